/** Input of `newcut inspect`: records in bytes, hex, base64url, base64, or the JSON that nodes answer with. */
import { decodeBase64Url, decodeHex } from '#ground/base/bytes.ts'
import { FormatError, NewcutError, operatingError } from '#ground/base/errors.ts'
import { type Json, parseJson, tryParse } from '#ground/base/json.ts'
import { degreeOfSize, encodeHeader } from '#ground/chain/header.ts'
import { headerFromJson } from '#ground/chain/header-json.ts'
import type { NetworkCode } from '#ground/chain/known-networks.ts'
import { commandErrors } from './errors.ts'

/** A header, work or work response in the input. */
export interface InputRecord {
  /** For errors: `line 3` or `line 1, item 7`. */
  readonly place: string
  /** @throws NewcutError */
  readonly read: () => ReadRecord
}

export interface ReadRecord {
  readonly bytes: Uint8Array
  /** Its encoding: `hex`, or `object in a block in a page`. */
  readonly format: string
}

/** A page holds blocks, and a block holds a header. */
const MAX_NESTING = 4

/**
 * The records of a file or of stdin.
 * @param network the network of the records, whose name may stand in objects
 */
export function recordsOf(content: Uint8Array, network?: NetworkCode): InputRecord[] {
  // Text input is printable ASCII. Anything else is the bytes of one record.
  if (content.some((byte) => byte > 126 || (byte < 32 && byte !== 10 && byte !== 13 && byte !== 9))) {
    return [{ place: 'line 1', read: () => ({ bytes: content, format: 'bytes' }) }]
  }
  const text = new TextDecoder().decode(content)
  const whole = jsonOf(text)
  if (whole !== undefined) return recordsInJson(whole, 'line 1', [], network)
  const lines = text.split('\n')
  const first = lines.find((line) => line.trim() !== '') ?? ''
  // A truncated page is one error, not one for each line.
  if (/^\s*[[{]/.test(first) && jsonOf(first) === undefined) return [{ place: 'line 1', read: notJson }]
  return lines
    .map((line, index) => ({ line: line.trim(), place: `line ${index + 1}` }))
    .filter(({ line }) => line !== '')
    .flatMap(({ line, place }) => recordsInText(line, place, network))
}

/** The records in one line of text. */
function recordsInText(text: string, place: string, network?: NetworkCode): InputRecord[] {
  const json = jsonOf(text)
  if (json !== undefined) return recordsInJson(json, place, [], network)
  return [{ place, read: /^[[{]/.test(text) ? notJson : () => decodeText(text) }]
}

function notJson(): never {
  throw new FormatError('json', 0, 'it begins like JSON but is not valid JSON; is the end missing?')
}

/** @returns the parsed JSON, or undefined. Digits alone are hex here, not a number. */
function jsonOf(text: string): Json | undefined {
  return /^\s*[[{"]/.test(text) ? tryParse(text, parseJson) : undefined
}

/** `inside`: the containers of the value, the innermost first. */
function recordsInJson(json: Json, place: string, inside: readonly string[], network?: NetworkCode): InputRecord[] {
  const record = (read: () => ReadRecord): InputRecord[] => {
    return [{ place, read: () => within(inside, read()) }]
  }
  if (typeof json === 'string') return record(() => decodeText(json))
  if (typeof json !== 'object' || json === null || inside.length >= MAX_NESTING) {
    return record(() => {
      throw new FormatError('header', 0, 'neither text nor an object, nor a list or page of these')
    })
  }
  if (Array.isArray(json)) return itemsOf(json, place, ['list', ...inside], network)
  const { items, header } = json as { readonly [key: string]: Json }
  if (Array.isArray(items)) return itemsOf(items, place, ['page', ...inside], network)
  if (header !== undefined) return recordsInJson(header, place, ['block', ...inside], network)
  return record(() => ({ bytes: encodeHeader(headerFromJson(json, network)), format: 'object' }))
}

function itemsOf(
  items: readonly Json[],
  place: string,
  inside: readonly string[],
  network?: NetworkCode,
): InputRecord[] {
  return items.flatMap((item, index) => recordsInJson(item, `${place}, item ${index + 1}`, inside, network))
}

function within(inside: readonly string[], { bytes, format }: ReadRecord): ReadRecord {
  return { bytes, format: [format, ...inside].join(' in a ') }
}

function decodeText(text: string): ReadRecord {
  if (/^0x/i.test(text)) return { bytes: decodeHex(text.slice(2)), format: 'hex' }
  if (/^[0-9a-fA-F]*$/.test(text) && (isRecordSize(text.length / 2) || !isRecordSize(Math.floor(text.length * 0.75)))) {
    return { bytes: decodeHex(text), format: 'hex' }
  }
  return /[+/=]/.test(text)
    ? { bytes: decodeBase64(text), format: 'base64' }
    : { bytes: decodeBase64Url(text), format: 'base64url' }
}

/** RFC 4648 section 4, with or without padding. */
function decodeBase64(text: string): Uint8Array {
  const digits = text.replace(/={1,2}$/, '')
  const isPadded = digits.length < text.length
  const bad = digits.search(/[^A-Za-z0-9+/]/)
  if (bad >= 0) throw new FormatError('base64', bad, `${JSON.stringify(digits[bad])} is not a base64 character`)
  if (isPadded && text.length % 4 !== 0) throw new FormatError('base64', digits.length, 'wrong padding')
  return decodeBase64Url(digits.replaceAll('+', '-').replaceAll('/', '_'), 'base64')
}

function isRecordSize(bytes: number): boolean {
  return (['work', 'header', 'workResponse'] as const).some((record) => degreeOfSize(bytes, record) !== null)
}

/** The records of an argument that names no file. Undecodable text is probably a mistyped file name. */
export function recordsOfArgument(text: string, network?: NetworkCode): InputRecord[] {
  return recordsInText(text, 'line 1', network).map(({ place, read }) => ({
    place,
    read: () => {
      try {
        return read()
      } catch (error) {
        if (!(error instanceof NewcutError)) throw error
        throw operatingError(commandErrors.neitherFileNorData, { text: text.slice(0, 80), why: error.message }, error)
      }
    },
  }))
}
