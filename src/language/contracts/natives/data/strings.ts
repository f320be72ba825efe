/** String natives. */

import { ofText, ofTextOperation, ofTextParse } from '../../machine/gas/cost-names.ts'
import { COST, growthCost, LIMIT } from '../../machine/gas/costs.ts'
import { countCharacters, PRICE, parsePrice } from '../../machine/gas/prices.ts'
import { type Arguments, type Native, native } from '../../machine/native.ts'
import { bitLength } from '../../values/bits.ts'
import { formatValue, showValue } from '../../values/print.ts'
import type { Value } from '../../values/value.ts'
import { fromBase64Url, fromUtf8, toBase64Url } from './base64.ts'
import { codePoints } from './code-points.ts'
import { weigh } from './weight.ts'

export const BAD_BASE64 = 'Decoding error: invalid b64 encoding'
const DIGITS = '0123456789abcdef'
/** Prefixes of the bases that the engine reads itself. */
const PREFIXES: Readonly<Record<number, string>> = { 2: '0b', 8: '0o', 10: '', 16: '0x' }
/** Digits that a double holds exactly, in any base up to 16. */
const PIECE = 13
const BAD_BASE = 'Base value must be >= 2 and <= 16, or 64'

/** Text form of the argument. The network charges its bytes as characters. */
function printWithCharge(args: Arguments, value: Value, print: (value: Value) => string): string {
  args.workText(weigh(value, args))
  const size = args.size(value)
  args.charge(PRICE.character * size, ofText(size))
  return print(value)
}

function format(args: Arguments): string {
  const [template, values] = [args.text(0), args.list(1)]
  args.workText(template.length, COST.readCharacter)
  const parts = template.split('{}')
  if (parts.length === 1) {
    args.charge(parsePrice(template), ofTextParse(template))
    return template
  }
  if (parts.length - 1 > values.length) throw args.error('format: not enough arguments for template')
  const pieces = values.slice(0, parts.length - 1).map((value) => pieceOf(args, value))
  const total = (texts: readonly string[]) => texts.reduce((sum, text) => sum + countCharacters(text), 0)
  args.charge(PRICE.character * (total(parts) + total(pieces)), ofText(total(parts) + total(pieces)))
  args.workText(
    pieces.reduce((sum, piece) => sum + piece.length, template.length),
    0,
  )
  return parts.map((part, i) => part + (pieces[i] ?? '')).join('')
}

/** A text is inserted as it is, which costs nothing by itself. */
function pieceOf(args: Arguments, value: Value): string {
  return typeof value === 'string' ? value : printWithCharge(args, value, formatValue)
}

/** Milligas for each text, in addition to its characters. */
const CONCAT_PRICE = 40

function concat(args: Arguments): string {
  const texts = args.texts(0)
  args.work(texts.length * COST.readElement)
  args.workText(texts.reduce((sum, text) => sum + text.length, 0))
  const count = texts.reduce((sum, text) => sum + countCharacters(text), 0)
  args.charge(PRICE.character * count + CONCAT_PRICE * texts.length, () => {
    return `GConcat (TextListConcat (GasTextLength ${count}) (GasListLength ${texts.length}))`
  })
  return texts.join('')
}

function strToList(args: Arguments): readonly string[] {
  const text = args.text(0)
  const count = codePoints(text)
  args.charge(PRICE.item * count + PRICE.parsed, ofTextOperation('StrOpExplode', count))
  args.workList(count)
  return [...text]
}

/** Base 10 with one argument; with two, the first is the base. */
function strToInt(args: Arguments): bigint {
  const base = args.has(1) ? args.integer(0) : 10n
  const text = args.text(args.has(1) ? 1 : 0)
  if (base !== 64n && (base < 2n || base > 16n)) throw args.error(BAD_BASE)
  args.charge(parsePrice(text), ofTextParse(text))
  if (codePoints(text) > LIMIT.digits) {
    throw args.error(`Decoding error: Invalid input, only up to ${LIMIT.digits} length supported`)
  }
  args.workText(text.length, COST.readCharacter)
  return base === 64n ? fromBase64Int(args, text) : fromDigits(args, text, base)
}

function fromDigits(args: Arguments, text: string, base: bigint): bigint {
  if (text === '') throw args.error('Decoding error: empty text')
  for (const character of text) {
    const digit = DIGITS.indexOf(character.toLowerCase())
    if (digit < 0) throw args.error('Decoding error: invalid digit: supported digits are 0-9, A-F')
    if (BigInt(digit) >= base) {
      throw args.error(`Decoding error: character '${character}' is out of range for base ${base}: ${text}`)
    }
  }
  return integerOf(text, Number(base))
}

/** The integer that valid digits stand for. */
function integerOf(text: string, base: number): bigint {
  const prefix = PREFIXES[base]
  if (prefix !== undefined) return BigInt(prefix + text)
  const factor = BigInt(base) ** BigInt(PIECE)
  const first = text.length % PIECE
  let result = first === 0 ? 0n : BigInt(Number.parseInt(text.slice(0, first), base))
  for (let at = first; at < text.length; at += PIECE) {
    result = result * factor + BigInt(Number.parseInt(text.slice(at, at + PIECE), base))
  }
  return result
}

/** Big-endian integer of the decoded bytes. */
function fromBase64Int(args: Arguments, text: string): bigint {
  const bytes = fromBase64Url(text)
  if (bytes === null) throw args.error(BAD_BASE64)
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
}

function intToStr(args: Arguments): string {
  const [base, n] = [args.integer(0), args.integer(1)]
  if (base !== 64n && (base < 2n || base > 16n)) throw args.error(BAD_BASE)
  if (n < 0n) throw args.error('int-to-str error: cannot show negative integer')
  const bits = bitLength(n)
  args.work(growthCost(bits))
  if (base !== 64n) {
    const digits = n.toString(Number(base))
    args.charge(PRICE.character * digits.length, ofText(digits.length))
    return digits
  }
  // The network rounds the number of characters down.
  const count = Math.floor((Math.max(1, Math.ceil(bits / 8)) * 4) / 3)
  args.charge(PRICE.character * count, ofText(count))
  const hex = n.toString(16)
  return toBase64Url(Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex'))
}

/** Charset 0 is ASCII, 1 is Latin-1. */
function isCharset(args: Arguments): boolean {
  const [charset, text] = [args.integer(0), args.text(1)]
  args.charge(parsePrice(text), ofTextParse(text))
  if (charset !== 0n && charset !== 1n) throw args.error('Unsupported character set')
  args.workText(text.length, COST.readCharacter)
  const last = charset === 0n ? 0x7f : 0xff
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > last) return false
  return true
}

function base64Encode(args: Arguments): string {
  const text = args.text(0)
  args.charge(parsePrice(text), ofTextParse(text))
  args.workText(text.length, COST.readCharacter)
  return toBase64Url(Buffer.from(text, 'utf8'))
}

function base64Decode(args: Arguments): string {
  const text = args.text(0)
  args.charge(parsePrice(text), ofTextParse(text))
  args.workText(text.length, COST.readCharacter)
  const bytes = fromBase64Url(text)
  const decoded = bytes === null ? null : fromUtf8(bytes)
  if (decoded === null) throw args.error(BAD_BASE64)
  return decoded
}

export const STRINGS: readonly Native[] = [
  native('format', 2, 2, format),
  native('concat', 1, 1, concat),
  native('show', 1, 1, (args) => printWithCharge(args, args.value(0), showValue)),
  native('str-to-list', 1, 1, strToList),
  native('str-to-int', 1, 2, strToInt),
  native('int-to-str', 2, 2, intToStr),
  native('is-charset', 2, 2, isCharset),
  native('base64-encode', 1, 1, base64Encode),
  native('base64-decode', 1, 1, base64Decode),
]
