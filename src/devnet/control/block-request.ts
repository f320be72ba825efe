/** A running control request: its search budget, its progress, and its cancellation. */

import { hash } from 'node:crypto'
import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { readU32LE, writeU32LE } from '#ground/base/bytes.ts'
import type { Clock } from '#ground/base/clock.ts'
import type { OnProgress } from '#ground/base/progress.ts'
import { withPrefix } from '#ground/base/units.ts'
import { decodeWork, encodeWork, type WorkFields } from '#ground/chain/header.ts'
import { meets } from '#ground/chain/pow.ts'
import { difficultyOf } from '#ground/chain/target.ts'
import { ControlError } from './control-error.ts'
import type { NonceSearch } from './nonce-search.ts'

/**
 * Maximum expected hashes of one control request: 5.5 minutes of one core with the native kernel (60 MH/s). More is a task
 * for the miner.
 */
export const MAX_REQUEST_HASHES = 20_000_000_000
/**
 * Up to this difficulty the node searches in its own thread. At 165 kH/s that takes 60 ms on average, less than
 * starting search threads.
 */
const MAX_OWN_HASHES = 10_000
/** Time a control request runs before waiting requests are served. */
const TURN_MS = 1
/** Time a control request runs before its blocks are durable. */
const SLICE_MS = 10
/** Hashes between two checks of the clock. */
const BATCH_HASHES = 1000
/** Interval of progress reports. */
const NOTICE_INTERVAL_MS = 5000

interface BlockRequestOptions {
  /** Name of the control request in progress reports. */
  readonly name: string
  /** Aborted with ControlError if the node stops or the caller leaves. */
  readonly signal: AbortSignal
  /** Resolves once every block so far survives the end of the process. */
  readonly durable: () => Promise<void>
  readonly search: NonceSearch
  readonly clock: Clock
  /** Called every five seconds with the progress of the order. */
  readonly onNotice: (message: string, kind?: 'progress') => void
  readonly onProgress?: OnProgress | undefined
}

export class BlockRequest {
  /** Blocks made so far. */
  made = 0
  readonly #options: BlockRequestOptions
  /** Total number of blocks to make, or null if it is not known. */
  readonly #blocks: number | null
  #hashesLeft = MAX_REQUEST_HASHES
  /** Expected hashes of all blocks searched so far, without the current one. */
  #expectedBefore = 0
  #difficulty = 0
  /** Hashes tried in finished searches, and in the current one. */
  #searchedBefore = 0
  #searched = 0
  #sliceStartMs: number
  #turnStartMs: number
  #cancelNotice: () => void

  constructor(options: BlockRequestOptions, blocks: number | null) {
    this.#options = options
    this.#blocks = blocks
    this.#sliceStartMs = options.clock.monotonicMs()
    this.#turnStartMs = this.#sliceStartMs
    this.#cancelNotice = options.clock.after(NOTICE_INTERVAL_MS, () => this.#notice())
  }

  /** Ends the progress reports. */
  end(): void {
    this.#cancelNotice()
    this.#options.onProgress?.(null)
  }

  /**
   * Each millisecond, serves requests. Once per time slice, also waits until all blocks so far are durable, so that few
   * blocks wait for a slow disk.
   * @throws the reason of the signal once it is aborted, or the error of a failed write
   */
  async pause(): Promise<void> {
    const { clock, durable, signal } = this.#options
    const nowMs = clock.monotonicMs()
    if (nowMs - this.#turnStartMs < TURN_MS) return
    await turn()
    if (nowMs - this.#sliceStartMs >= SLICE_MS) {
      this.#tell()
      await durable()
      this.#sliceStartMs = clock.monotonicMs()
    }
    signal.throwIfAborted()
    this.#turnStartMs = clock.monotonicMs()
  }

  /** Waits for `next`. @throws the reason of the signal once it is aborted */
  async until(next: Promise<void>): Promise<void> {
    const { clock, signal } = this.#options
    const over = new AbortController()
    try {
      await Promise.race([next, once(signal, 'abort', { signal: over.signal }).catch(() => undefined)])
    } finally {
      over.abort()
    }
    signal.throwIfAborted()
    this.#sliceStartMs = clock.monotonicMs()
    this.#turnStartMs = this.#sliceStartMs
  }

  /** @returns the work with a nonce that solves it. @throws ControlError if the search budget does not suffice */
  async solve(work: WorkFields): Promise<WorkFields> {
    const difficulty = difficultyOf(work.target)
    if (difficulty === null || difficulty > BigInt(Math.floor(this.#hashesLeft))) {
      const { chainId: chain, height } = work
      throw new ControlError({ kind: 'too-difficult', made: this.made, chain, height, difficulty })
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
    // A search may take minutes: first write the blocks made before it.
    await durable()
    const onHashes = (hashes: number) => {
      this.#searched = hashes
      this.#tell()
    }
    const nonce = await search.search(encodeWork(work), work.target, { signal, onHashes })
    return { ...work, nonce }
  }

  async #searchHere(work: WorkFields): Promise<WorkFields> {
    const bytes = encodeWork(work)
    const nonceAt = bytes.length - 8
    // The highest word alone rules out nearly all hashes.
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

  #tell(): void {
    const { name, onProgress } = this.#options
    if (this.#blocks !== null) onProgress?.({ what: name, done: this.made, total: this.#blocks })
  }

  #notice(): void {
    const { name, clock, onNotice } = this.#options
    this.#cancelNotice = clock.after(NOTICE_INTERVAL_MS, () => this.#notice())
    const blocks = this.#blocks === null ? `${this.made} blocks` : `${this.made} of ${this.#blocks} blocks`
    const searched = this.#searchedBefore + this.#searched
    if (this.#difficulty === 0) {
      onNotice(`${name}: ${blocks} made`, 'progress')
      return
    }
    const left = this.#blocks === null ? 1 : this.#blocks - this.made
    const expected = this.#expectedBefore + left * this.#difficulty
    const end = this.#blocks === null ? 'with the next block' : 'in all'
    onNotice(
      `${name}: ${blocks} made, ${withPrefix(searched)} hashes searched, about ${withPrefix(expected)} expected ${end}`,
      'progress',
    )
  }
}
