/** Fills the wordings of failures, and finds the wording of test files for a text of live nodes. */
import type { FailureRow } from './row.ts'
import { FAILURES } from './tables.ts'

/** A value of a text, or a function that shows it only when the text is read. */
export type WordingValue = string | number | bigint | boolean | (() => string)

const PLACEHOLDER = /\{([a-z]\w*)(?::(\d+))?\}/gi

/** Fills the placeholders of a wording. */
export function fillWording(template: string, values: Readonly<Record<string, WordingValue>>): string {
  return template.replaceAll(PLACEHOLDER, (_, name: string, most: string | undefined) => {
    const value = values[name]
    const text = typeof value === 'function' ? value() : String(value)
    return most === undefined ? text : abbreviate(text, Number(most))
  })
}

/** Cuts a text to `most` characters, and marks the cut with `...`. */
export function abbreviate(text: string, most: number): string {
  if (text.length <= most) return text
  const characters = [...text]
  return characters.length <= most ? text : `${characters.slice(0, most).join('')}...`
}

/** The tables have no longer text, and matching one against all patterns would take long. */
const MAX_TEXT = 1000

interface ErrorTranslation {
  readonly pattern: RegExp
  readonly runner: string
}

let translations: readonly ErrorTranslation[] | null = null

/**
 * Wording of test files for an execution error that was made in the wording of live nodes.
 * @returns the text itself if no failure of the tables says it
 */
export function runnerWording(text: string): string {
  if (text.length > MAX_TEXT) return text
  translations ??= Object.values<FailureRow>(FAILURES).flatMap(translationOf)
  for (const { pattern, runner } of translations) {
    const found = pattern.exec(text)
    if (found !== null) return fillWording(runner, found.groups ?? {})
  }
  return text
}

/** The translation of a row, unless its wording on the wire lacks a value of the other. */
function translationOf({ kind, wire, runner }: FailureRow): ErrorTranslation[] {
  if (kind !== 'EvalError' || wire === runner || /\{\w+:\d+\}/.test(wire)) return []
  const names = [...wire.matchAll(PLACEHOLDER)].map(([, name]) => name)
  if ([...runner.matchAll(PLACEHOLDER)].some(([, name]) => !names.includes(name))) return []
  const parts = wire.split(PLACEHOLDER).filter((_, index) => index % 3 === 0)
  const source = parts.map(
    (part, index) => escapePattern(part) + (index < names.length ? `(?<${names[index]}>.*?)` : ''),
  )
  return [{ pattern: new RegExp(`^${source.join('')}$`, 's'), runner }]
}

function escapePattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}
