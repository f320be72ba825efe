/**
 * All blocks of the embedded network, orphans included, as records in memory. It finds them by hash, by parent, and by
 * chain in (height, hash) order. A header takes its bytes and about 50 more; objects are created on demand.
 */
import { concatBytes, decodeHash, encodeBase64Url } from '#ground/base/bytes.ts'
import { FormatError } from '#ground/base/errors.ts'
import { decodeHeader, encodeHeader, type Header, headerLayout } from '#ground/chain/header.ts'
import { chainBytes } from '#ground/chain/work.ts'
import { ByteArena } from './byte-arena.ts'
import { HashIndex } from './hash-index.ts'
import type { StoredPayload } from './payload.ts'
import type { PayloadStore } from './payload-store.ts'
import { RecentPayloads } from './recent-payloads.ts'

const HASH_BYTES = 32
const { headerBytes: EMPTY_BYTES, payloadHash: PAYLOAD_HASH_AT } = headerLayout(0)
/** Distance of the payload hash from the end of a header: the same for each degree of the graph. */
const PAYLOAD_HASH_FROM_END = EMPTY_BYTES - PAYLOAD_HASH_AT

/** A block of the store. It is cheap: the store creates a new object for every call. */
export class Block {
  readonly chain: number
  readonly height: number
  /** Encoded header, 210 + 36 x degree bytes; a read-only view. */
  readonly bytes: Uint8Array
  readonly #payloads: PayloadStore
  #header: Header | undefined
  #id: string | undefined
  #payload: StoredPayload | undefined

  constructor(place: { chain: number; height: number; bytes: Uint8Array }, payloads: PayloadStore) {
    this.chain = place.chain
    this.height = place.height
    this.bytes = place.bytes
    this.#payloads = payloads
  }

  /** Block hash, 32 bytes. */
  get hash(): Uint8Array {
    return this.bytes.subarray(this.bytes.length - HASH_BYTES)
  }

  /** Block hash as in JSON. */
  get id(): string {
    this.#id ??= encodeBase64Url(this.hash)
    return this.#id
  }

  get header(): Header {
    this.#header ??= decodeHeader(this.bytes)
    return this.#header
  }

  /** Read from the end of the header, where its offset does not depend on the degree of the graph. */
  get payloadHash(): Uint8Array {
    const from = this.bytes.length - PAYLOAD_HASH_FROM_END
    return this.bytes.subarray(from, from + HASH_BYTES)
  }

  get payload(): StoredPayload {
    this.#payload ??= this.#payloads.get(this.payloadHash)
    if (this.#payload === undefined) throw new Error(`block ${this.id} has no payload in the store`)
    return this.#payload
  }
}

interface BlockStoreOptions {
  /** Number of chains of the network: 0 to chains - 1. */
  readonly chains: number
  /** Adjacent chains of each chain: determines the length of a header. */
  readonly degree: number
  readonly payloads: PayloadStore
}

const NONE = -1

export class BlockStore {
  readonly payloads: PayloadStore
  readonly #headerBytes: number
  readonly #slab = new ByteArena()
  /** By record: offset in the slab, chain, height, and record of the parent (-1 for genesis). */
  readonly #places: number[] = []
  readonly #chainOf: number[] = []
  readonly #heightOf: number[] = []
  readonly #parentOf: number[] = []
  readonly #byHash: HashIndex
  /** By payload hash || chain id, which are neighbours in a header. Has the first block of those that share both. */
  readonly #byPayload: HashIndex
  /** Chain -> records by (height, hash). */
  readonly #order: readonly number[][]

  constructor({ chains, degree, payloads }: BlockStoreOptions) {
    this.payloads = new RecentPayloads(payloads)
    const layout = headerLayout(degree)
    this.#headerBytes = layout.headerBytes
    this.#order = Array.from({ length: chains }, () => [])
    this.#byHash = new HashIndex((record) => this.hashAt(record))
    this.#byPayload = new HashIndex((record) =>
      this.#slab.read(this.#places[record] + layout.payloadHash, layout.weight - layout.payloadHash),
    )
  }

  /** Number of blocks of all chains. */
  get size(): number {
    return this.#places.length
  }

  /** Number of chains of the network. */
  get chains(): number {
    return this.#order.length
  }

  /** Adds a block, or finds it if it is there. Its parent must be in the store, unless it is a genesis block. */
  insert(header: Header, payload: StoredPayload): Block {
    this.payloads.put(payload)
    return this.insertHeader(encodeHeader(header), header)
  }

  /** Like insert, for a payload that is stored already. `header` holds the fields that `bytes` encode. */
  insertHeader(bytes: Uint8Array, header: Pick<Header, 'hash' | 'parent' | 'chainId' | 'height'>): Block {
    const known = this.#byHash.find(header.hash)
    if (known !== NONE) return this.#block(known)
    const record = this.#places.length
    this.#places.push(this.#slab.append(bytes))
    this.#chainOf.push(header.chainId)
    this.#heightOf.push(Number(header.height))
    this.#parentOf.push(this.#byHash.find(header.parent))
    this.#byHash.add(record)
    this.#byPayload.add(record)
    const order = this.#order[header.chainId]
    order.splice(this.#firstAtOrAfter(header.chainId, Number(header.height), header.hash), 0, record)
    return this.#block(record)
  }

  /** The block that was added as number `number`, counted from 0. @throws RangeError if there is none */
  at(number: number): Block {
    if (!(number >= 0 && number < this.size)) throw new RangeError(`block number ${number} of ${this.size}`)
    return this.#block(number)
  }

  /** The block with this hash, on `chain` if it is given. */
  get(hash: Uint8Array, chain?: number): Block | undefined {
    const record = this.#byHash.find(hash)
    return record === NONE || (chain !== undefined && this.#chainOf[record] !== chain) ? undefined : this.#block(record)
  }

  /** Like get, for a hash as in JSON. @returns undefined also for 43 characters that encode no hash */
  byId(id: string, chain?: number): Block | undefined {
    try {
      return this.get(decodeHash(id), chain)
    } catch (error) {
      if (error instanceof FormatError) return undefined
      throw error
    }
  }

  /** A block of this chain with this payload. */
  withPayload(payloadHash: Uint8Array, chain: number): Block | undefined {
    const record = this.#byPayload.find(concatBytes(payloadHash, chainBytes(chain)))
    return record === NONE ? undefined : this.#block(record)
  }

  /** @returns undefined for a genesis block */
  parentOf(block: Block): Block | undefined {
    const parent = this.#parentOf[this.recordOf(block)]
    return parent === NONE ? undefined : this.#block(parent)
  }

  /** The ancestor of a block at this height, or the block itself if it is not higher. */
  ancestor(block: Block, height: number): Block {
    return this.#block(this.ancestorAt(this.recordOf(block), height))
  }

  // Walks over many ancestors use record numbers: 100,000 objects would take longer than the walk.

  /** Record number of a block. @throws Error for a block of another store */
  recordOf(block: Block): number {
    const record = this.#byHash.find(block.hash)
    if (record === NONE) throw new Error(`no block ${block.id} in the store`)
    return record
  }

  /** Record of the ancestor at this height, or `record` itself if it is not higher. */
  ancestorAt(record: number, height: number): number {
    let at = record
    while (this.#heightOf[at] > height && this.#parentOf[at] !== NONE) at = this.#parentOf[at]
    return at
  }

  /** @returns the record number of the block with this hash, or -1 if there is none */
  recordOfHash(hash: Uint8Array): number {
    return this.#byHash.find(hash)
  }

  /** @returns the record number of the parent, or -1 for a genesis block */
  parentRecord(record: number): number {
    return this.#parentOf[record]
  }

  chainAt(record: number): number {
    return this.#chainOf[record]
  }

  heightAt(record: number): number {
    return this.#heightOf[record]
  }

  hashAt(record: number): Uint8Array {
    return this.#slab.read(this.#places[record] + this.#headerBytes - HASH_BYTES, HASH_BYTES)
  }

  blockAt(record: number): Block {
    return this.#block(record)
  }

  /** Number of blocks on a chain, orphans included. */
  count(chain: number): number {
    return this.#order[chain].length
  }

  /** Position of a block in the order of its chain. */
  positionOf(block: Block): number {
    return this.#firstAtOrAfter(block.chain, block.height, block.hash)
  }

  /** Position of the first block at this height or above. */
  positionAtHeight(chain: number, height: number): number {
    return this.#firstAtOrAfter(chain, height, null)
  }

  /** Blocks at the positions `from` (included) to `to` (excluded). */
  slice(chain: number, from: number, to: number): Block[] {
    return this.#order[chain].slice(from, to).map((record) => this.#block(record))
  }

  #block(record: number): Block {
    const place = { chain: this.#chainOf[record], height: this.#heightOf[record], bytes: this.#bytes(record) }
    return new Block(place, this.payloads)
  }

  #bytes(record: number): Uint8Array {
    return this.#slab.read(this.#places[record], this.#headerBytes)
  }

  /** Binary search by (height, hash). Without a hash, finds the first block at that height. */
  #firstAtOrAfter(chain: number, height: number, hash: Uint8Array | null): number {
    const order = this.#order[chain]
    let low = 0
    let high = order.length
    while (low < high) {
      const middle = (low + high) >> 1
      const record = order[middle]
      const difference = this.#heightOf[record] - height
      const isBefore =
        difference < 0 || (difference === 0 && hash !== null && Buffer.compare(this.hashAt(record), hash) < 0)
      if (isBefore) low = middle + 1
      else high = middle
    }
    return low
  }
}
