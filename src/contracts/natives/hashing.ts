/** Hash natives, and `typeof`. */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { COST, hashCost } from '../machine/costs.ts'
import { PRICE } from '../machine/gas-prices.ts'
import { type Arguments, type Native, native } from '../machine/native.ts'
import { Callable, isValue } from '../machine/term.ts'
import { typeName } from '../machine/type-name.ts'
import { hashText } from '../values/hash.ts'
import { TableRef, type Value } from '../values/value.ts'
import { valueToJson } from '../values/wire.ts'
import { fromBase64Url, toBase64Url } from './base64.ts'
import { BAD_BASE64 } from './strings.ts'
import { weigh } from './weight.ts'

/** Hashes the text of a string, or the wire format of any other value. */
function hashValue(args: Arguments, value: Value): string {
  args.work(hashCost(weigh(value, args)))
  const bytes = typeof value === 'string' ? Buffer.byteLength(value, 'utf8') : args.size(value)
  args.charge(PRICE.hashByte * bytes)
  return hashText(typeof value === 'string' ? value : valueToJson(value))
}

/** Milligas of keccak256 for each piece, and for each 100 bytes of all of them, as they are written. */
const KECCAK = { piece: 2120, hundredBytes: 146 }

/** Hashes the concatenation of all pieces. Pieces and result are base64url. */
function keccak(args: Arguments): string {
  const texts = args.texts(0)
  const written = texts.reduce((sum, text) => sum + Buffer.byteLength(text, 'utf8'), 0)
  args.charge(KECCAK.hundredBytes * Math.ceil(written / 100) + KECCAK.piece * texts.length)
  const pieces = texts.map((text) => {
    args.workText(text.length, COST.readCharacter)
    const bytes = fromBase64Url(text)
    if (bytes === null) throw args.error(BAD_BASE64)
    return bytes
  })
  const whole = Buffer.concat(pieces)
  args.work(hashCost(whole.length))
  return toBase64Url(keccak_256(whole))
}

function typeOf(args: Arguments): string {
  const [term] = args.all
  if (term instanceof Callable) return '<<closure>>'
  if (isValue(term)) weigh(term, args)
  return term instanceof TableRef && term.schemaName !== null ? `table{${term.schemaName}}` : typeName(term)
}

export const HASHING: readonly Native[] = [
  native('hash', 1, 1, (args) => hashValue(args, args.value(0))),
  native('hash-keccak256', 1, 1, keccak),
  native('typeof', 1, 1, typeOf),
]
