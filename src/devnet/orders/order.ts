/** One order that is being carried out: what it may still search, how far it has come, whether it is to go on. */
import { hash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { readU32LE, writeU32LE } from '../../core/bytes.ts'
import type { Clock } from '../../core/clock.ts'
import { decodeWork, encodeWork, type WorkFields } from '../../core/header.ts'
import { meets } from '../../core/pow.ts'
import { difficultyOf } from '../../core/target.ts'
import { withPrefix } from '../../core/units.ts'
import type { NonceSearch } from './nonce-search.ts'
import { OrderRefused } from './order-refused.ts'

/**
 * Most hashes that the blocks of one order take on average: 5.5 minutes of one core with the native kernel (60 MH/s).
 * More than that is mining, for which there is the miner.
 */
export const MAX_ORDER_HASHES = 20_000_000_000
/**
 * Up to this difficulty the node searches by itself: at its 165 kH/s that takes 60 ms on average, less than it takes to
 * start search threads.
 */
const MAX_OWN_HASHES = 10_000
/** How long requests wait for a search or for blocks that are being made. */
const SLICE_MS = 10
/** Hashes between two looks at the clock. */
const BATCH_HASHES = 1000
const NOTICE_INTERVAL_MS = 5000

export interface OrderOptions {
  /** For people: what is being done. */
  readonly name: string
  /** Aborted with OrderRefused when the node stops or the caller has left. */
  readonly signal: AbortSignal
  /** Resolves when every block so far survives the end of the process. */
  readonly durable: () => Promise<void>
  readonly search: NonceSearch
  readonly clock: Clock
  /** Hears each five seconds how far the order is. */
  readonly onNotice: (message: string) => void
}

export class Order {
  /** Blocks made so far. */
  made = 0
  readonly #options: OrderOptions
  /** Blocks to be made in all; null: as many as it takes. */
  readonly #blocks: number | null
  #hashesLeft = MAX_ORDER_HASHES
  /** Hashes on average of the blocks that were searched, without the present one. */
  #expectedBefore = 0
  #difficulty = 0
  /** Hashes of the searches that are over, and of the present one. */
  #searchedBefore = 0
  #searched = 0
  #sliceStartMs: number
  #cancelNotice: () => void

  constructor(options: OrderOptions, blocks: number | null) {
    this.#options = options
    this.#blocks = blocks
    this.#sliceStartMs = options.clock.monotonicMs()
    this.#cancelNotice = options.clock.after(NOTICE_INTERVAL_MS, () => this.#notice())
  }

  /** Says nothing any more. */
  end(): void {
    this.#cancelNotice()
  }

  /**
   * After each slice of time lets requests be served, and waits until all blocks so far are durable, so that few blocks
   * wait for a slow disk. Throws the signal's reason once it is aborted, or what went wrong with a write.
   */
  async pause(): Promise<void> {
    const { clock, durable, signal } = this.#options
    if (clock.monotonicMs() - this.#sliceStartMs < SLICE_MS) return
    await turn()
    await durable()
    signal.throwIfAborted()
    this.#sliceStartMs = clock.monotonicMs()
  }

  /** The same work with a nonce that solves it. Throws OrderRefused when that exceeds what one order may search. */
  async solve(work: WorkFields): Promise<WorkFields> {
    const difficulty = difficultyOf(work.target)
    if (difficulty === null || difficulty > BigInt(Math.floor(this.#hashesLeft))) {
      const { chainId: chain, height } = work
      throw new OrderRefused({ kind: 'too-difficult', made: this.made, chain, height, difficulty })
    }
    this.#difficulty = Number(difficulty)
    this.#hashesLeft -= this.#difficulty
    const solved = difficulty > MAX_OWN_HASHES ? await this.#searchElsewhere(work) : await this.#searchHere(work)
    this.#expectedBefore += this.#difficulty
    this.#searchedBefore += this.#searched
    this.#searched = 0
    return solved
  }

  async #searchElsewhere(work: WorkFields): Promise<WorkFields> {
    const { search, durable, signal } = this.#options
    // A search may take minutes: what was made before it must not wait for a disk meanwhile.
    await durable()
    const onHashes = (hashes: number) => {
      this.#searched = hashes
    }
    const nonce = await search.search(encodeWork(work), work.target, { signal, onHashes })
    return { ...work, nonce }
  }

  async #searchHere(work: WorkFields): Promise<WorkFields> {
    const bytes = encodeWork(work)
    const nonceAt = bytes.length - 8
    // Nearly all hashes fail by their highest word already.
    const highest = Number(work.target >> 224n)
    for (let nonce = 0; nonce < 2 ** 32; nonce++) {
      writeU32LE(bytes, nonceAt, nonce)
      const found = hash('blake2s256', bytes, 'buffer')
      this.#searched = nonce + 1
      if (readU32LE(found, 28) <= highest && meets(found, work.target)) return decodeWork(bytes)
      if (nonce % BATCH_HASHES === 0) await this.pause()
    }
    throw new Error(`2^32 nonces and no solution for difficulty ${difficultyOf(work.target)}`)
  }

  #notice(): void {
    const { name, clock, onNotice } = this.#options
    this.#cancelNotice = clock.after(NOTICE_INTERVAL_MS, () => this.#notice())
    const blocks = this.#blocks === null ? `${this.made} blocks` : `${this.made} of ${this.#blocks} blocks`
    const searched = this.#searchedBefore + this.#searched
    if (this.#difficulty === 0) {
      onNotice(`${name}: ${blocks} made`)
      return
    }
    const left = this.#blocks === null ? 1 : this.#blocks - this.made
    const expected = this.#expectedBefore + left * this.#difficulty
    const end = this.#blocks === null ? 'with the next block' : 'in all'
    onNotice(
      `${name}: ${blocks} made, ${withPrefix(searched)} hashes searched, about ${withPrefix(expected)} expected ${end}`,
    )
  }
}
