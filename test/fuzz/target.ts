/** A fuzz target: a reader of bytes from an untrusted writer. */
import { NewcutError } from '../../src/ground/base/errors.ts'

export interface Target {
  readonly name: string
  /** Number of inputs in proportion to other targets; default 1. Slow targets get fewer. */
  readonly share?: number
  /** Maximum time for one input, in ms; default 250. */
  readonly maxMs?: number
  readonly open: () => Reader | Promise<Reader>
}

/** An opened target. */
export interface Reader {
  /** Valid inputs: mutations start from them. */
  readonly seeds: readonly Uint8Array[]
  /** Reads one input. @throws errors that the reader documents, or a plain Error if a result is wrong */
  readonly read: (bytes: Uint8Array) => unknown
  /** Whether an error is documented; default: any NewcutError (FormatError included). */
  readonly allows?: (error: unknown) => boolean
  readonly close?: () => Promise<void>
}

export const MAX_MS = 250

export const isNewcutError = (error: unknown): boolean => error instanceof NewcutError
/** For readers that document SyntaxError. */
export const isSyntaxError = (error: unknown): boolean => error instanceof NewcutError || error instanceof SyntaxError
/** For readers that document RangeError; a stack overflow does not count as one. */
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

/** Throws if a result is wrong. */
export function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(`wrong result: ${what}`)
}

/** Splits the bytes into three pieces, at positions that depend on the bytes. */
export function pieces(bytes: Uint8Array): Uint8Array[] {
  const [a, b] = [bytes.length % 7, Math.floor(bytes.length / 2)].sort((x, y) => x - y)
  return [bytes.subarray(0, a), bytes.subarray(a, b), bytes.subarray(b)]
}

/**
 * A stream of lines. A JSON list gives one line per item, so that parts of messages are mutated too; other bytes stay
 * as they are.
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

/** @returns an empty text if the item nests too deeply to be serialized */
function jsonLine(item: unknown): string {
  try {
    return JSON.stringify(item)
  } catch (error) {
    if (error instanceof RangeError) return ''
    throw error
  }
}
