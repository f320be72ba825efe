/** What is fuzzed: a reader of bytes that somebody else wrote. */
import { NewcutError } from '../../src/core/errors.ts'

export interface Target {
  readonly name: string
  /** How many inputs it gets, in proportion to others; default 1. Slow ones get fewer. */
  readonly share?: number
  /** Longest time for one input; default 250 ms. */
  readonly maxMs?: number
  readonly open: () => Reader | Promise<Reader>
}

/** A target that is ready. */
export interface Reader {
  /** Inputs as they should be: mutations start from them. */
  readonly seeds: readonly Uint8Array[]
  /** Returns, or throws what the reader documents. Whatever it finds wrong with a result is an Error of its own. */
  readonly read: (bytes: Uint8Array) => unknown
  /** Which errors are documented; default: NewcutError, of which FormatError is one. */
  readonly allows?: (error: unknown) => boolean
  readonly close?: () => Promise<void>
}

export const MAX_MS = 250

export const isNewcutError = (error: unknown): boolean => error instanceof NewcutError
/** For readers that document SyntaxError. */
export const isSyntaxError = (error: unknown): boolean => error instanceof NewcutError || error instanceof SyntaxError
/** For readers that document RangeError; that of the stack is none of these. */
export const isRangeError = (error: unknown): boolean =>
  error instanceof NewcutError || (error instanceof RangeError && !/call stack/.test(error.message))

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export const bytesOf = (text: string): Uint8Array => encoder.encode(text)
export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes)
export const jsonBytes = (value: unknown): Uint8Array => bytesOf(JSON.stringify(value))

/** A target that reads text and needs nothing else. */
export function textTarget(
  name: string,
  seeds: readonly string[],
  read: (text: string) => unknown,
  more: Partial<Pick<Target, 'share' | 'maxMs'> & Pick<Reader, 'allows'>> = {},
): Target {
  const { allows, ...rest } = more
  const reader = { seeds: seeds.map(bytesOf), read: (bytes: Uint8Array) => read(textOf(bytes)) }
  return { name, ...rest, open: () => (allows === undefined ? reader : { ...reader, allows }) }
}

/** Says that a result is wrong. */
export function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(`wrong result: ${what}`)
}

/** Three pieces whose sizes follow from the bytes. */
export function pieces(bytes: Uint8Array): Uint8Array[] {
  const [a, b] = [bytes.length % 7, Math.floor(bytes.length / 2)].sort((x, y) => x - y)
  return [bytes.subarray(0, a), bytes.subarray(a, b), bytes.subarray(b)]
}

/**
 * A stream of lines: one for each item where the bytes are a JSON list, so that parts of messages are changed too; else
 * the bytes as they are.
 */
export function lineStream(bytes: Uint8Array): Uint8Array {
  const items = listIn(bytes)
  return items === null ? bytes : bytesOf(items.map((item) => `${jsonLine(item)}\n`).join(''))
}

function listIn(bytes: Uint8Array): readonly unknown[] | null {
  try {
    const value: unknown = JSON.parse(textOf(bytes))
    return Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

/** Empty for what nests too deep to be written again. */
function jsonLine(item: unknown): string {
  try {
    return JSON.stringify(item)
  } catch (error) {
    if (error instanceof RangeError) return ''
    throw error
  }
}
