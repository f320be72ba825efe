/** Error codes, and the base class of all operating failures. */
import { printable } from './printable.ts'

/**
 * Every error code of the project with its meaning. Codes are stable: scripts may rely on them. docs/ERRORS.md is made from
 * this table and from scripts/docs/error-groups.ts.
 */
export const errorCodes = {
  BAD_FORMAT: 'bytes or text that break a wire format; the message names the field and its offset',
  BAD_OPTION:
    'an unknown option, or a value that an option does not take; the message names the option and where it was set',
  BAD_CONFIG: 'a configuration file that cannot be read or parsed',
  BAD_INPUT: 'an input file, line or argument that cannot be read',
  BAD_OUTPUT: 'an output file that exists already, or that cannot be written',
  DATA_UNUSABLE: 'a data folder that is damaged, in use, full, missing, or of another network',
  PORT_BUSY: 'the address to listen on is taken, or may not be used',
  NODE_UNREACHABLE: 'no answer: connection refused, unknown host, timeout, or TLS failure',
  NODE_NOT_RECOGNISED: 'the server that answers is not a node of a known kind',
  NODE_REFUSED: 'the node answered with an error status',
  NODE_MISBEHAVED: 'the node sent an answer that breaks the interface',
  COMMAND_FAILED: 'a transaction or a read-only call failed; the text is that of the contract or the node',
  NO_RESULT: 'after the longest wait, a transaction is in no block or has no proof; it may still get there',
  KERNEL_REFUSED: 'no search kernel passed its self-test, or a kernel computes wrong hashes',
  INTERNAL: 'a bug in newcut; the message names places in its code',
} as const

/** A key of errorCodes. */
export type ErrorCode = keyof typeof errorCodes

/** An operating failure: a stable code, a message that says what is wrong and where, and a hint what to do. */
export class NewcutError extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  /** More about the failure, for programs: fields of its line in JSON. */
  readonly facts: Readonly<Record<string, unknown>> = {}

  constructor(code: ErrorCode, message: string, options: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.code = code
    this.hint = options.hint
  }
}

/** A failure of a table. `{name}` in `text` and `hint` stands for a value that the throwing place passes. */
export type ErrorRow = {
  readonly code: ErrorCode
  /** Message: the fault and its place. */
  readonly text: string
} & (
  | {
      /** Advice: a step that helps. */
      readonly hint: string
    }
  | {
      readonly hint?: undefined
      /** Why advice is impossible or useless. For the readers of the table. */
      readonly noHint: string
    }
)

/** Names of the values in a text. */
type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never
type ValuesOf<Row extends ErrorRow> = Readonly<Record<Names<Row['text'] | Row['hint']>, string | number | bigint>>
type Arguments<Row extends ErrorRow> = [Names<Row['text'] | Row['hint']>] extends [never]
  ? [values?: undefined, cause?: unknown]
  : [values: ValuesOf<Row>, cause?: unknown]

/** Keeps the exact texts in the type, so that the compiler knows which values each of them needs. */
export const errorRows = <const Rows extends Readonly<Record<string, ErrorRow>>>(rows: Rows): Rows => rows

/** @returns the error of a row with its values, ready to throw */
export function operatingError<Row extends ErrorRow>(row: Row, ...[values, cause]: Arguments<Row>): NewcutError {
  const known: Readonly<Record<string, string | number | bigint>> = values ?? {}
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (hole, name: string) => String(known[name] ?? hole))
  return new NewcutError(row.code, fill(row.text), { hint: row.hint && fill(row.hint), cause })
}

/** @returns a copy of an error with another hint: the caller knows better what to do */
export function withHint({ code, message, cause }: NewcutError, hint: string): NewcutError {
  return new NewcutError(code, message, { hint, cause })
}

/** Failures of this room. */
export const baseErrors = errorRows({
  userInAddress: {
    code: 'BAD_OPTION',
    text: '{origin}: its address has a user or a password, and newcut sends neither',
    hint: 'name the address without them',
  },
})

/**
 * Malformed bytes or text. `field` is the name in the layout table, `offset` the byte (or character) where the error
 * is.
 */
export class FormatError extends NewcutError {
  readonly field: string
  readonly offset: number

  constructor(field: string, offset: number, message: string) {
    super('BAD_FORMAT', `${field} at offset ${offset}: ${message}`)
    this.field = field
    this.offset = offset
  }
}

/** An error without a stack trace, for failures that are frequent: capturing the trace would take most of their time. */
export class StacklessError extends Error {
  constructor(message?: string) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
  }
}

/**
 * Describes anything thrown: its message and up to four causes, as one line of printable text. Causes that the text
 * already contains are skipped.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return printable(String(error))
  let text = error.message || error.name
  let cause: unknown = error.cause
  for (let depth = 0; depth < 4 && cause instanceof Error; depth++, cause = cause.cause) {
    if (cause.message && !mentions(text, cause)) text += `: ${cause.message}`
  }
  return printable(text)
}

const FILE_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EISDIR: 'it is a folder',
  ENOTDIR: 'it is not a folder',
  EACCES: 'it may not be read',
}

/** Why a file or folder cannot be read. @param error of the file system, or of `readUserFile`, which suggests a file */
export function fileProblem(error: unknown): string {
  const { code = '', suggest } = error as { readonly code?: string; readonly suggest?: () => string }
  const words = FILE_PROBLEMS[code]
  if (words === undefined) return describeError(error)
  return `${words} (${code})${code === 'ENOENT' ? (suggest?.() ?? '') : ''}`
}

/**
 * The error of nodes for the unknown name `print` in code. In a namespace, they look for a module of this name there.
 * Outside of one, the text has two spaces.
 */
export const NO_PRINT = /^Cannot find module: {1,2}(?:\S+\.)?print$/
/** Advice on `NO_PRINT`. */
export const PRINT_ADVICE = 'live networks have no print: leave it out, or try the code on newcut devnet --allow-print'

/** Maximum number of code locations that an internal error names. */
const MAX_PLACES = 3

/** @returns the error itself if it is a NewcutError; otherwise a NewcutError with the code INTERNAL */
export function asNewcutError(error: unknown): NewcutError {
  if (error instanceof NewcutError) return error
  const lines = error instanceof Error ? (error.stack ?? '').split('\n') : []
  const places = lines.flatMap((line) => /^\s+at .*?([\w.-]+\.[cm]?[jt]s:\d+:\d+)\)?$/.exec(line)?.[1] ?? [])
  const where = places.length === 0 ? '' : ` at ${places.slice(0, MAX_PLACES).join(', ')}`
  const hint = `this is a bug in newcut${where}: please report it`
  return new NewcutError('INTERNAL', `internal error: ${describeError(error)}`, { hint })
}

/** True if the text contains the error's message (only its first line, as parsers append a picture) or its code. */
function mentions(text: string, error: Error & { readonly code?: unknown }): boolean {
  const [line] = error.message.split('\n')
  const { code } = error
  return text.includes(line.replace(/:$/, '')) || (typeof code === 'string' && text.includes(code))
}
