/** Reads the files of networks (`--network-file`): YAML or JSON, checked with line and reason. */
import { dirname, resolve } from 'node:path'
import type { Node, Pair } from 'yaml'
import { fileProblem, operatingError } from '#ground/base/errors.ts'
import { isJsonObject } from '#ground/base/json.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import { MAX_CODE_BYTES, readUserText } from '#ground/base/user-file.ts'
import { knownNetwork } from '#ground/chain/known-networks.ts'
import { completeNetwork } from '#ground/chain/network.ts'
import { definitionOf, type NetworkForm, NetworkFormError } from '#ground/chain/network-form.ts'
import { NetworkFile } from '#ground/schema/network-file.ts'
import { validatorOf } from '#ground/schema/validator.ts'
import { cliErrors } from './errors.ts'
import { parseYaml, yaml } from './yaml.ts'

type Path = readonly (string | number)[]
/** The parts of a schema that messages come from. */
interface DescribedSchema {
  readonly description?: string
  readonly properties?: Readonly<Record<string, DescribedSchema>>
  readonly items?: DescribedSchema
}

/**
 * @returns the networks of these files, in their order
 * @throws NewcutError BAD_CONFIG that names file, line and reason
 */
export function readNetworkFiles(paths: readonly string[]): NetworkForm[] {
  const read: { readonly path: string; readonly network: NetworkForm }[] = []
  for (const path of paths) {
    const network = readNetworkFile(path)
    const other = read.find((each) => each.network.name === network.name)
    if (other !== undefined) {
      throw operatingError(cliErrors.sameNetwork, { file: path, other: other.path, network: network.name })
    }
    const known = knownNetwork(network.name)
    if (known?.isPublic && completeNetwork(known) !== null) {
      throw operatingError(cliErrors.publicNetwork, { file: path, network: network.name })
    }
    read.push({ path, network })
  }
  return read.map(({ network }) => network)
}

function readNetworkFile(path: string): NetworkForm {
  const { document, lines, problem } = parseYaml(textOf(path))
  const fail = (line: number | null, message: string): never => {
    throw operatingError(cliErrors.invalidNetwork, {
      place: line === null ? path : `${path}, line ${line}`,
      problem: message,
    })
  }
  if (problem !== null) fail(problem.line, problem.reason)
  const wrong = (at: Path, message: string): never => {
    const offset = offsetOf(document.contents, at)
    return fail(
      offset === null ? null : lines.linePos(offset).line,
      at.length === 0 ? message : `${at.join('.')}: ${message}`,
    )
  }
  const content: unknown = document.toJS()
  replaceCodeFiles(content, dirname(path), wrong)
  const { accepts, complaint } = validatorOf(NetworkFile)
  if (!accepts(content)) {
    const [, pointer = '', text] = /^(\/\S*)? ?(.*)$/.exec(complaint(content)) ?? []
    const at = pointer.split('/').slice(1)
    wrong(at, expectedAt(at) ?? text)
  }
  try {
    definitionOf(content as NetworkForm)
    return content as NetworkForm
  } catch (error) {
    if (error instanceof NetworkFormError) wrong(error.path, error.message)
    throw error
  }
}

/**
 * Replaces each `code-file` of the first transactions by the `code` in that file.
 * @param folder where relative names begin
 */
function replaceCodeFiles(content: unknown, folder: string, wrong: (at: Path, message: string) => never): void {
  const genesis = isJsonObject(content) ? content.genesis : null
  const transactions = isJsonObject(genesis) && Array.isArray(genesis.transactions) ? genesis.transactions : []
  for (const [i, transaction] of transactions.entries()) {
    const { 'code-file': file, code } = isJsonObject(transaction) ? transaction : {}
    if (file === undefined) continue
    const at = ['genesis', 'transactions', i]
    if (code !== undefined) wrong(at, 'expected either code or code-file')
    try {
      const { 'code-file': _, ...rest } = transaction
      transactions[i] = { ...rest, code: readUserText(resolve(folder, String(file)), MAX_CODE_BYTES) }
    } catch (error) {
      wrong([...at, 'code-file'], `${file}: ${fileProblem(error)}`)
    }
  }
}

function textOf(path: string): string {
  try {
    return readUserText(path)
  } catch (error) {
    throw operatingError(cliErrors.unreadableNetwork, { file: path, why: fileProblem(error) }, error)
  }
}

/** Finds the schema's words for a place. Null if it has none. */
function expectedAt(path: Path): string | null {
  let schema = NetworkFile as DescribedSchema
  for (const key of path) {
    const next = schema.items ?? schema.properties?.[key]
    if (next === undefined) {
      const names = Object.keys(schema.properties ?? {})
      return names.length === 0
        ? null
        : `no such field${suggestName(String(key), names)}; known are ${names.join(', ')}`
    }
    schema = next
  }
  return schema.description === undefined ? null : `expected ${schema.description}`
}

/** Offset of the key or item at a place; of the last one on the way that is there. */
function offsetOf(root: unknown, path: Path): number | null {
  const { isMap, isScalar, isSeq } = yaml()
  let [node, offset] = [root, null as number | null]
  for (const key of path) {
    if (isMap(node)) {
      const pair: Pair | undefined = node.items.find(
        (each) => isScalar(each.key) && String(each.key.value) === String(key),
      )
      if (pair === undefined) return offset
      offset = (pair.key as Node).range?.[0] ?? offset
      node = pair.value
    } else if (isSeq(node)) {
      node = node.items[Number(key)]
      offset = (node as Node | undefined)?.range?.[0] ?? offset
    } else return offset
  }
  return offset
}
