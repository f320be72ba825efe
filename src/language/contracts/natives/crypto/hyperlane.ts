/** Natives for messages of Hyperlane 3, a bridge between networks. Integers in messages are big-endian. */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { parseExactJson, unlessMalformed } from '#ground/base/json.ts'
import { type ContractError, evalError } from '../../errors.ts'
import { type Arguments, type Native, native } from '../../machine/native.ts'
import { Decimal } from '../../values/decimal.ts'
import { Guard, type ObjectValue, type Value } from '../../values/value.ts'
import { keysetFromValue, valueFromJson } from '../../values/wire.ts'
import { fromBase64Url, fromUtf8, toBase64Url } from '../data/base64.ts'
import { workReduction } from './crypto-work.ts'

/** Bytes of an address, a hash or an amount. */
const WORD = 32
const CHAIN_BYTES = 2
const MAX_U8 = 0xffn
const MAX_U32 = 0xffff_ffffn
/** Number of amounts; larger ones wrap around. */
const AMOUNTS = 1n << 256n
/** Decimal places of the amounts in messages that arrive. */
const PLACES = 18
/** Characters of a text that the price of the public network covers; longer ones are charged by length. */
const COVERED_CHARACTERS = 512
/** Work of each further character: decoding and hashing it. */
const CHARACTER_WORK = 10

/** Reads the fields of an object, and fails in the words of the public network. */
class MessageFields {
  readonly #args: Arguments
  readonly #object: ObjectValue

  constructor(args: Arguments) {
    this.#args = args
    this.#object = args.object(0)
  }

  text(name: string): string {
    const value = this.#object.get(name)
    return typeof value === 'string' ? value : this.#missing(name)
  }

  decimal(name: string): Decimal {
    const value = this.#object.get(name)
    return value instanceof Decimal ? value : this.#missing(name)
  }

  integer(name: string, most: bigint): bigint {
    const value = this.#object.get(name)
    if (typeof value !== 'bigint') return this.#missing(name)
    if (value < 0n || value > most)
      throw fault(this.#args, `Object key ${name} was out of bounds`, `Object key ${name} was out of bounds.`)
    return value
  }

  bytes(name: string): Uint8Array {
    const text = this.text(name)
    chargeText(this.#args, text)
    const bytes = fromBase64Url(text)
    if (bytes !== null) return bytes
    const what = 'Invalid base64 encoding on field'
    throw fault(this.#args, `${what} ${name}`, `${what}: ${name}`)
  }

  word(name: string): Uint8Array {
    const bytes = this.bytes(name)
    if (bytes.length === WORD) return bytes
    const [what, expected] = ['Incorrect binary data size', `Expected: ${WORD}, but got`]
    const text = `${what} ${name}. ${expected} ${bytes.length}`
    throw fault(this.#args, text, `${what}. ${name}. ${expected}: ${bytes.length}`)
  }

  #missing(name: string): never {
    throw fault(this.#args, `Failed to find key in object: ${name}`)
  }
}

/** @param wire text in results of commands */
function fault({ place }: Arguments, text: string, wire = text): ContractError {
  return evalError(`Hyperlane native error: ${text}`, place, `Hyperlane native error: ${wire}`)
}

/** @param end what results of commands add to the text */
function decodeFault({ place }: Arguments, text: string, end = ''): ContractError {
  return evalError(`Hyperlane decode error: ${text}`, place, `Hyperlane decode error: ${text}${end}`)
}

/** Charges for a long text. */
function chargeText(args: Arguments, text: string): void {
  args.work(CHARACTER_WORK * Math.max(0, text.length - COVERED_CHARACTERS))
}

function bigEndian(value: bigint, bytes: number): Buffer {
  return Buffer.from(value.toString(16).padStart(2 * bytes, '0'), 'hex')
}

/** Hash of a message, by which the bridge identifies it. */
function messageId(args: Arguments): string {
  const fields = new MessageFields(args)
  const whole = Buffer.concat([
    bigEndian(fields.integer('version', MAX_U8), 1),
    bigEndian(fields.integer('nonce', MAX_U32), 4),
    bigEndian(fields.integer('originDomain', MAX_U32), 4),
    fields.word('sender'),
    bigEndian(fields.integer('destinationDomain', MAX_U32), 4),
    fields.word('recipient'),
    fields.bytes('messageBody'),
  ])
  const id = toBase64Url(keccak_256(whole))
  args.charge(id.length, () => `GHyperlaneMessageId ${id.length}`)
  return id
}

/**
 * Chain number at the start of a text, modulo 2^16. The public network also ignores what follows the digits. Only the
 * last 16 digits count, because 2^16 divides 10^16.
 */
function chainOf(args: Arguments, text: string): bigint {
  chargeText(args, text)
  const [digits] = /^[0-9]+/.exec(text) ?? []
  if (digits === undefined) {
    throw fault(args, 'Failed to decode chainId: input does not start with a digit', 'Failed to decode chainId.')
  }
  return BigInt.asUintN(8 * CHAIN_BYTES, BigInt(digits.slice(-8 * CHAIN_BYTES)))
}

/** Encodes a transfer of tokens: amount, chain, and the recipient as given. */
function encodeTokenMessage(args: Arguments): string {
  const fields = new MessageFields(args)
  const recipient = fields.bytes('recipient')
  const decimal = fields.decimal('amount')
  workReduction(args, decimal.mantissa)
  const amount = decimal.round(0).mantissa
  const chain = chainOf(args, fields.text('chainId'))
  const wrapped = ((amount % AMOUNTS) + AMOUNTS) % AMOUNTS
  const text = toBase64Url(Buffer.concat([bigEndian(wrapped, WORD), bigEndian(chain, CHAIN_BYTES), recipient]))
  args.charge(text.length, () => `GHyperlaneEncodeDecodeTokenMessage ${text.length}`)
  return text
}

/** Decodes a transfer of tokens. The recipient is the JSON text of a guard. */
function decodeTokenMessage(args: Arguments): ObjectValue {
  const text = args.text(0)
  args.charge(text.length, () => `GHyperlaneEncodeDecodeTokenMessage ${text.length}`)
  chargeText(args, text)
  const bytes = fromBase64Url(text)
  if (bytes === null) throw decodeFault(args, 'Failed to base64-decode token message', '.')
  if (bytes.length < WORD + CHAIN_BYTES) throw decodeFault(args, 'Decoding error: binary decoding failed', '.')
  const number = (from: number, to: number) => BigInt(`0x${Buffer.from(bytes.subarray(from, to)).toString('hex')}`)
  const recipient = guardOf(bytes.subarray(WORD + CHAIN_BYTES))
  if (recipient === null) throw decodeFault(args, 'Could not parse recipient into a guard')
  return new Map<string, Value>([
    ['amount', new Decimal(number(0, WORD), PLACES).normalise()],
    ['chainId', number(WORD, WORD + CHAIN_BYTES).toString()],
    ['recipient', recipient],
  ])
}

/** @returns null if the bytes are not the JSON text of a guard */
function guardOf(bytes: Uint8Array): Guard | null {
  const text = fromUtf8(bytes)
  if (text === null) return null
  return unlessMalformed(() => {
    const value = valueFromJson(parseExactJson(text))
    if (Array.isArray(value)) return keysetFromValue(value)
    return value instanceof Guard ? value : null
  })
}

export const HYPERLANE: readonly Native[] = [
  native('hyperlane-message-id', 1, 1, messageId),
  native('hyperlane-encode-token-message', 1, 1, encodeTokenMessage),
  native('hyperlane-decode-token-message', 1, 1, decodeTokenMessage),
]
