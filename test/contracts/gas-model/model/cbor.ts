/** Writes CBOR (RFC 8949) as the database of the original has it. */
import { hashBytesOf } from './terms.ts'

export class Cbor {
  #bytes = Buffer.alloc(1024)
  #length = 0

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  byte(byte: number): void {
    this.#room(1)
    this.#bytes[this.#length++] = byte
  }

  head(major: number, value: number | bigint): void {
    if (value < 24) {
      this.byte((major << 5) | Number(value))
      return
    }
    const n = BigInt(value)
    const size = [1, 2, 4, 8].find((each) => n >> BigInt(8 * each) === 0n)
    if (size === undefined) throw new Error('more than 64 bits')
    this.byte((major << 5) | (24 + Math.log2(size)))
    for (let shift = 8 * (size - 1); shift >= 0; shift -= 8) this.byte(Number((n >> BigInt(shift)) & 255n))
  }

  /** An array of known length that begins with the number of the variant. */
  variant(number: number, fields: number): void {
    this.array(1 + fields)
    this.head(0, number)
  }

  array(length: number): void {
    this.head(4, length)
  }

  /** An array without a length, or an empty one. */
  list<T>(items: readonly T[], put: (item: T) => void): void {
    if (items.length === 0) {
      this.array(0)
      return
    }
    this.byte(0x9f)
    for (const item of items) put(item)
    this.byte(0xff)
  }

  vector<T>(items: readonly T[], put: (item: T) => void): void {
    this.array(items.length)
    for (const item of items) put(item)
  }

  maybe<T>(value: T | null, put: (value: T) => void): void {
    this.array(value === null ? 0 : 1)
    if (value !== null) put(value)
  }

  fields<T>(fields: ReadonlyMap<string, T>, put: (value: T) => void): void {
    this.head(5, fields.size)
    for (const [field, value] of fields) {
      this.text(field)
      put(value)
    }
  }

  text(text: string): void {
    const length = Buffer.byteLength(text)
    this.head(3, length)
    this.#room(length)
    this.#bytes.write(text, this.#length)
    this.#length += length
  }

  hash(hash: string): void {
    this.byteString(hashBytesOf(hash))
  }

  byteString(bytes: Uint8Array): void {
    this.head(2, bytes.length)
    this.#room(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** Integers beyond 64 bits are tagged byte strings. */
  integer(n: bigint): void {
    const magnitude = n < 0n ? -1n - n : n
    if (magnitude >> 64n === 0n) {
      this.head(n < 0n ? 1 : 0, magnitude)
      return
    }
    const hex = magnitude.toString(16)
    this.byte(n < 0n ? 0xc3 : 0xc2)
    this.byteString(Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex'))
  }

  #room(count: number): void {
    if (this.#length + count <= this.#bytes.length) return
    this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#bytes.length + count)])
  }
}
