/** Reads YAML or JSON with the digits of its numbers as they are written. */
import type { Document, Node } from 'yaml'
import { parseYaml, yaml } from '#faces/cli/yaml.ts'
import { operatingError } from '#ground/base/errors.ts'
import { type ExactJson, NumberText } from '#ground/base/json.ts'
import { commandErrors } from './errors.ts'

const INTEGER = /^-?(?:0|[1-9]\d*)$/
/** A number as JSON spells it. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * @returns the value of a text.
 * @throws NewcutError BAD_INPUT that names the file and the line
 */
export function readExactYaml(text: string, path: string): ExactJson {
  const { document, problem } = parseYaml(text)
  if (problem === null) return exactOf(document.contents as Node | null, document)
  const { line, reason } = problem
  throw operatingError(commandErrors.invalidYaml, {
    place: line === null ? path : `${path}, line ${line}`,
    why: reason,
  })
}

function exactOf(node: unknown, document: Document): ExactJson {
  const { isAlias, isMap, isScalar, isSeq } = yaml()
  if (isAlias(node)) return exactOf(node.resolve(document), document)
  if (isMap(node)) {
    return Object.fromEntries(
      node.items.map(({ key, value }) => [String(isScalar(key) ? key.value : key), exactOf(value, document)]),
    )
  }
  if (isSeq(node)) return node.items.map((item) => exactOf(item, document))
  if (!isScalar(node)) return null
  const { value, source } = node
  if (typeof value === 'number') {
    if (source !== undefined && INTEGER.test(source)) return BigInt(source)
    return new NumberText(source !== undefined && NUMBER.test(source) ? source : String(value))
  }
  return typeof value === 'string' || typeof value === 'boolean' ? value : null
}
