/** Search for nonces inside the node, for blocks that a tester orders: slow, and never in the way of requests. */
import { hash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { readU32LE, writeU32LE } from '../../core/bytes.ts'
import { decodeWork, encodeWork, type WorkFields } from '../../core/header.ts'
import { meets } from '../../core/pow.ts'
import { difficultyOf } from '../../core/target.ts'

/** Most hashes that the blocks of one order may take on average: minutes of search on one core. */
export const SEARCH_LIMIT_HASHES = 50_000_000
/** How long requests wait for a search or for blocks that are being made. */
const SLICE_MS = 10
/** Hashes between two looks at the clock. */
const BATCH = 1000

/**
 * After each slice of time lets requests be served, and waits until all blocks so far are written: however slow a disk
 * is, few wait for it. Throws the signal's reason once it is aborted, or what went wrong with a write.
 */
export class Slices {
  readonly #signal: AbortSignal
  readonly #written: () => Promise<void>
  #startedAtMs = performance.now()

  /** `written` resolves when all blocks so far are written. */
  constructor(signal: AbortSignal, written: () => Promise<void>) {
    this.#signal = signal
    this.#written = written
  }

  async pause(): Promise<void> {
    if (performance.now() - this.#startedAtMs < SLICE_MS) return
    await turn()
    await this.#written()
    this.#signal.throwIfAborted()
    this.#startedAtMs = performance.now()
  }
}

/** What one order may search. */
export class SearchBudget {
  #left = SEARCH_LIMIT_HASHES

  /** Whether there is enough left for a block of this target; takes it if so. */
  take(target: bigint): boolean {
    const difficulty = difficultyOf(target)
    if (difficulty === null || difficulty > BigInt(this.#left)) return false
    this.#left -= Number(difficulty)
    return true
  }
}

/** The same work with the first nonce that solves it. The work is within a SearchBudget, or this takes for ever. */
export async function searchNonce(work: WorkFields, slices: Slices): Promise<WorkFields> {
  const bytes = encodeWork(work)
  const nonceAt = bytes.length - 8
  // Nearly all hashes fail by their highest word already.
  const highest = Number(work.target >> 224n)
  for (let nonce = 0; nonce < 2 ** 32; nonce++) {
    writeU32LE(bytes, nonceAt, nonce)
    const found = hash('blake2s256', bytes, 'buffer')
    if (readU32LE(found, 28) <= highest && meets(found, work.target)) return decodeWork(bytes)
    if (nonce % BATCH === 0) await slices.pause()
  }
  throw new Error(`2^32 nonces and no solution for difficulty ${difficultyOf(work.target)}`)
}
