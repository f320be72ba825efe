/**
 * Comments that silence survivors of a line: `; newcut-mutate: ignore REASON`, or `; newcut-mutate: ignore OPERATOR: REASON`.
 * A comment on a line of its own silences the next line of code.
 */
import { operatingError } from '#ground/base/errors.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import { mutationErrors } from './errors.ts'

export interface IgnoreComment {
  /** Line of the mutants, from 0. */
  readonly line: number
  /** `file:line` of the comment, from 1. */
  readonly at: string
  /** Operators whose mutants it silences; empty for all. */
  readonly operators: readonly string[]
  readonly reason: string
}

const COMMENT = /^(.*?);+\s*newcut-mutate:\s*(.*?)\s*$/
/** Names of operators before a colon. */
const CHOICE = /^([a-z-]+(?:\s*,\s*[a-z-]+)*)\s*:\s*(.*)$/

/**
 * @param place name of the file, for errors
 * @throws NewcutError BAD_INPUT for a comment without a reason, or with an unknown operator
 */
export function ignoreCommentsIn(text: string, place: string, known: readonly string[]): IgnoreComment[] {
  const lines = text.split('\n')
  return lines.flatMap((line, at) => {
    const [, before, directive] = COMMENT.exec(line) ?? []
    if (before === undefined || directive === undefined) return []
    const fail = (problem: string) =>
      operatingError(mutationErrors.malformedComment, { place: `${place}:${at + 1}`, problem })
    const [, word, rest] = /^(\S*)\s*(.*)$/.exec(directive) ?? []
    if (word !== 'ignore') throw fail(`the comment says ${JSON.stringify(word)}, not "ignore"`)
    const [, names, chosen] = CHOICE.exec(rest) ?? []
    const operators = names === undefined ? [] : names.split(/\s*,\s*/)
    for (const name of operators) {
      if (!known.includes(name)) throw fail(`${name} is not the name of an operator${suggestName(name, known)}`)
    }
    const reason = chosen ?? rest
    if (reason === '') throw fail('the comment has no reason')
    const silenced = before.trim() === '' ? nextCodeLine(lines, at) : at
    return [{ line: silenced, at: `${place}:${at + 1}`, operators, reason }]
  })
}

function nextCodeLine(lines: readonly string[], at: number): number {
  const next = lines.findIndex((line, i) => i > at && !/^\s*(;.*)?$/.test(line))
  return next < 0 ? at : next
}
