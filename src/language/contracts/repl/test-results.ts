/** Results of expectations. */
import type { TextPlace } from '../errors.ts'
import { showValue } from '../values/print.ts'
import type { Value } from '../values/value.ts'
import { asSource } from './source-text.ts'

export interface TestFailure {
  readonly file: string
  readonly place: TextPlace
  readonly name: string
  /** Expected and actual result, as a sentence. */
  readonly what: string
}

/** A labelled part of a failure, such as the expected value. */
interface FailurePart {
  readonly label: string
  readonly lines: readonly string[]
}

/** More about a failure than its sentence, for people. */
export interface FailureDetail {
  readonly parts: readonly FailurePart[]
  /** Whether the first two parts are values to compare line by line. */
  readonly areComparable: boolean
  /** Where the code under test failed; null if it did not, or only outside of files. */
  readonly cause: { readonly file: string; readonly place: TextPlace } | null
}

/** An expectation that was evaluated. */
export interface TestCase {
  readonly file: string
  readonly place: TextPlace
  readonly name: string
  /** Expected and actual result of a failure, as a sentence; null if it holds. */
  readonly what: string | null
  /** Null if it holds, or if the sentence says all. */
  readonly detail: FailureDetail | null
  /** Null for a property test, whose gas depends on chance. */
  readonly milligas: number | null
  /** How long it ran, in milliseconds. */
  readonly ms: number
}

/** When an expectation began, and how much gas was used by then; null for a property test. */
export interface TestStart {
  readonly ms: number
  readonly milligas: number | null
}

/** Two values that should be equal. */
export function comparedValues(wanted: Value, got: Value): FailureDetail {
  const [shown, exact] = [showValue, asSource].map((show) => [wanted, got].map((each) => valueLines(each, show)))
  const [expected, actual] = shown[0].join('\n') === shown[1].join('\n') ? exact : shown
  const parts = [
    { label: 'expected', lines: expected },
    { label: 'actual', lines: actual },
  ]
  return { parts, areComparable: true, cause: null }
}

/** Parts of one line or more each. */
export function labelledParts(
  parts: Readonly<Record<string, string | readonly string[]>>,
  cause: FailureDetail['cause'] = null,
): FailureDetail {
  const rows = Object.entries(parts).map(([label, text]) => ({
    label,
    lines: typeof text === 'string' ? [text] : text,
  }))
  return { parts: rows, areComparable: false, cause }
}

/** Shorter values stay on one line. */
const SHORT = 32
/** Lines of a value that a failure keeps. */
const MAX_LINES = 2000

/** A value in source form: lists, objects and texts of several lines have a line for each of their parts. */
export function valueLines(value: Value, show: (value: Value) => string = showValue): string[] {
  const lines = layOut(value, show)
  return lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), `... ${lines.length - MAX_LINES} more lines`] : lines
}

function layOut(value: Value, show: (value: Value) => string): string[] {
  if (typeof value === 'string') return show(value).split('\n')
  const text = show(value)
  if (text.length <= SHORT) return text.split('\n')
  if (Array.isArray(value))
    return inBrackets(
      '[]',
      value.map((each: Value) => layOut(each, show)),
    )
  if (!(value instanceof Map)) return text.split('\n')
  const names = [...value.keys()].sort()
  const fields = names.map((name) => {
    const [first, ...others] = layOut(value.get(name) as Value, show)
    return [`${JSON.stringify(name)}: ${first}`, ...others]
  })
  return inBrackets('{}', fields)
}

/** A comma follows each part, so that another last part changes no line of the one before it. */
function inBrackets([open, close]: string, parts: readonly (readonly string[])[]): string[] {
  const inner = parts.flatMap((lines) => [...lines.slice(0, -1), `${lines.at(-1)},`].map((line) => `  ${line}`))
  return [open, ...inner, close]
}
