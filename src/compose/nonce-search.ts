/** Searches one nonce at a time on the CPU, without a miner: for `newcut solve` and for ordered devnet blocks. */

import { availableParallelism } from 'node:os'
import type { NonceSearch, SearchOptions } from '#devnet/control/nonce-search.ts'
import { rejectWhenAborted, withFirstOf } from '#ground/base/signals.ts'
import { withNonce } from '#ground/chain/header.ts'
import { FREE_NONCE } from '#ground/chain/nonce.ts'
import { meets, powHash } from '#ground/chain/pow.ts'
import { systemClock } from '#ground/platform/clock.ts'
import type { KernelPreference } from '#mining/engine/cpu/names.ts'
import type { Priority } from '#mining/engine/cpu/priority.ts'
import { type Engine, noWork } from '#mining/engine/engine.ts'
import { nonceRanges } from '#mining/engine/range.ts'

/** How long threads stay alive after a search, so that the next block of a control request starts at once. */
const IDLE_MS = 5000
const PROGRESS_INTERVAL_MS = 500

interface SearchThreads {
  readonly threads: number
  readonly kernel: KernelPreference
  readonly priority: Priority
}

/** One low-priority thread per core. */
export const allCores: SearchThreads = { threads: availableParallelism(), kernel: 'auto', priority: 'low' }

/** Starts threads for a search, and stops them after IDLE_MS without one. */
export class EngineSearch implements NonceSearch {
  readonly #threads: SearchThreads
  readonly #onNotice: (message: string) => void
  readonly #closed = new AbortController()
  #engine: { readonly workBytes: number; readonly ready: Promise<Engine> } | null = null
  #sequence = 0
  #isBusy = false
  #idle: NodeJS.Timeout | undefined
  #onCandidate: (sequence: number, nonce: bigint) => void = () => undefined

  constructor(threads: SearchThreads, onNotice: (message: string) => void) {
    this.#threads = threads
    this.#onNotice = onNotice
  }

  /** Starts the threads in advance. Rejects with NewcutError KERNEL_REFUSED, or with the reason of the signal. */
  async prepare(workBytes: number, ended: AbortSignal): Promise<void> {
    await this.#readyEngine(workBytes, ended)
  }

  search(work: Uint8Array, target: bigint, { signal, onHashes }: SearchOptions): Promise<bigint> {
    return withFirstOf([signal, this.#closed.signal], (ended) =>
      this.#search(work, target, { signal: ended, onHashes }),
    )
  }

  async #search(work: Uint8Array, target: bigint, { signal: ended, onHashes }: SearchOptions): Promise<bigint> {
    if (this.#isBusy) throw new Error('a search is already in progress')
    this.#isBusy = true
    clearTimeout(this.#idle)
    try {
      const engine = await this.#readyEngine(work.length, ended)
      const before = engine.hashes()
      const tell = () => onHashes(engine.hashes() - before)
      const timer = setInterval(tell, PROGRESS_INTERVAL_MS)
      try {
        return await this.#nonceOf(engine, work, target, ended)
      } finally {
        clearInterval(timer)
        tell()
        void engine.setWork(noWork(++this.#sequence))
      }
    } finally {
      this.#isBusy = false
      if (!this.#closed.signal.aborted) this.#idle = setTimeout(() => void this.#stopEngine(), IDLE_MS).unref()
    }
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error('the node is closed'))
    clearTimeout(this.#idle)
    await this.#stopEngine()
  }

  #nonceOf(engine: Engine, work: Uint8Array, target: bigint, ended: AbortSignal): Promise<bigint> {
    const sequence = ++this.#sequence
    return new Promise((resolve, reject) => {
      const leave = () => reject(ended.reason)
      this.#onCandidate = (candidateOf, nonce) => {
        // Engines report candidates, so verify them.
        if (candidateOf !== sequence || !meets(powHash(withNonce(work, nonce)), target)) return
        ended.removeEventListener('abort', leave)
        resolve(nonce)
      }
      if (ended.aborted) leave()
      ended.addEventListener('abort', leave, { once: true })
      void engine.setWork({ sequence, job: String(sequence), bytes: work, target, fixedNonce: FREE_NONCE })
    })
  }

  #readyEngine(workBytes: number, ended: AbortSignal): Promise<Engine> {
    ended.throwIfAborted()
    return Promise.race([this.#engineFor(workBytes), rejectWhenAborted(ended)])
  }

  /** The running engine, or a new one. Rejects with NewcutError KERNEL_REFUSED. */
  async #engineFor(workBytes: number): Promise<Engine> {
    if (this.#engine !== null && this.#engine.workBytes !== workBytes) await this.#stopEngine()
    this.#engine ??= { workBytes, ready: this.#start(workBytes) }
    const { ready } = this.#engine
    try {
      return await ready
    } catch (error) {
      this.#engine = null
      throw error
    }
  }

  async #start(workBytes: number): Promise<Engine> {
    // Few development networks need an engine: only requests for blocks with proof of work do.
    const { CpuEngine } = await import('#mining/engine/cpu/cpu.ts')
    const { threads, kernel, priority } = this.#threads
    const ranges = nonceRanges(threads, Math.random)
    const engine = new CpuEngine({ ranges, kernel, priority, clock: systemClock })
    await engine.start(workBytes, {
      onCandidate: ({ sequence, nonce }) => this.#onCandidate(sequence, nonce),
      onWarning: this.#onNotice,
    })
    return engine
  }

  async #stopEngine(): Promise<void> {
    const running = this.#engine
    this.#engine = null
    // A failed start needs no stop, and the caller of search() has its error.
    const engine = await running?.ready.catch(() => null)
    await engine?.stop()
  }
}
