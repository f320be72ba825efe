/** Writer of CBOR (RFC 8949), with exactly the forms that the hashed encoding of modules uses. */
import { bitLength } from '../../../values/bits.ts'

/** Major types in the upper three bits of a first byte. */
const MAJOR = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5 } as const
const OPEN_ARRAY = 0x9f
const BREAK = 0xff
const NULL = 0xf6
const FALSE = 0xf4
const TRUE = 0xf5
/** Tag of a positive integer that needs more than 64 bits; that of a negative one is the next. */
const BIGNUM_TAG = 0xc2
const FIRST_CAPACITY = 4096

const encoder = new TextEncoder()

export class CborWriter {
  #bytes = new Uint8Array(FIRST_CAPACITY)
  #length = 0

  /** A copy of everything written so far. */
  get bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  /** Bytes so far. */
  get length(): number {
    return this.#length
  }

  /** The head of an array of known length. Its items follow. */
  array(length: number): this {
    return this.#head(MAJOR.array, length)
  }

  /** An array of unknown length; an empty one has length 0. */
  list<T>(items: readonly T[], write: (item: T) => void): this {
    if (items.length === 0) return this.array(0)
    this.#byte(OPEN_ARRAY)
    for (const item of items) write(item)
    return this.#byte(BREAK)
  }

  /** An array of known length. */
  vector<T>(items: readonly T[], write: (item: T) => void): this {
    this.array(items.length)
    for (const item of items) write(item)
    return this
  }

  /** An optional value: an array of one item or none. */
  maybe<T>(value: T | null, write: (value: T) => void): this {
    this.array(value === null ? 0 : 1)
    if (value !== null) write(value)
    return this
  }

  /** The head of a map with this number of entries. Keys and values follow in turn. */
  map(size: number): this {
    return this.#head(MAJOR.map, size)
  }

  /** A safe integer of at least 0. */
  uint(value: number): this {
    return this.#head(MAJOR.unsigned, value)
  }

  /** An integer of any size. */
  integer(value: bigint): this {
    const isNegative = value < 0n
    const magnitude = isNegative ? -1n - value : value
    if (bitLength(magnitude) <= 64) return this.#head(isNegative ? MAJOR.negative : MAJOR.unsigned, magnitude)
    const hex = magnitude.toString(16)
    this.#byte(isNegative ? BIGNUM_TAG + 1 : BIGNUM_TAG)
    return this.byteString(Uint8Array.from((hex.length % 2 === 0 ? hex : `0${hex}`).match(/../g) ?? [], fromHex))
  }

  text(text: string): this {
    const bytes = encoder.encode(text)
    return this.#head(MAJOR.text, bytes.length).raw(bytes)
  }

  byteString(bytes: Uint8Array): this {
    return this.#head(MAJOR.bytes, bytes.length).raw(bytes)
  }

  bool(value: boolean): this {
    return this.#byte(value ? TRUE : FALSE)
  }

  null(): this {
    return this.#byte(NULL)
  }

  /** Bytes that are encoded already. */
  raw(bytes: Uint8Array): this {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
    return this
  }

  /** Writes a head in its shortest form. */
  #head(major: number, value: number | bigint): this {
    const first = major << 5
    if (value < 24) return this.#byte(first | Number(value))
    let [code, size] = [24, 1]
    for (; size < 8 && value >= 2 ** (8 * size); size *= 2) code++
    this.#byte(first | code)
    const wide = BigInt(value)
    for (let shift = 8 * (size - 1); shift >= 0; shift -= 8) this.#byte(Number((wide >> BigInt(shift)) & 0xffn))
    return this
  }

  #byte(byte: number): this {
    this.#reserve(1)
    this.#bytes[this.#length++] = byte
    return this
  }

  #reserve(count: number): void {
    const needed = this.#length + count
    if (needed <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(needed, 2 * this.#bytes.length))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}

function fromHex(pair: string): number {
  return Number.parseInt(pair, 16)
}
