/** Long polling: requests that wait until a chain has their result. */

import type { Clock } from '#ground/base/clock.ts'

/** Returns the result, or null if there is none yet. */
type ResultLookup = () => string | null

interface ResultWaiter {
  readonly look: ResultLookup
  readonly answer: (answer: string | null) => void
}

interface WaitingOptions {
  /** Maximum requests that wait at once. */
  readonly limit: number
  /** Longest wait. */
  readonly waitMs: number
  readonly clock: Clock
  /** Calls `listener` with the chains whose head has changed. */
  readonly onCut: (listener: (changed: readonly number[]) => void) => void
}

export class ResultWaiters {
  readonly limit: number
  readonly #waitMs: number
  readonly #clock: Clock
  readonly #waiters = new Map<number, Set<ResultWaiter>>()
  #size = 0

  constructor({ limit, waitMs, clock, onCut }: WaitingOptions) {
    this.limit = limit
    this.#waitMs = waitMs
    this.#clock = clock
    onCut((changed) => {
      for (const chain of changed) this.look(chain)
    })
  }

  get isFull(): boolean {
    return this.#size >= this.limit
  }

  /** Repeats the lookup of every request that waits for a chain. */
  look(chain: number): void {
    for (const waiter of [...(this.#waiters.get(chain) ?? [])]) {
      const result = waiter.look()
      if (result !== null) waiter.answer(result)
    }
  }

  /** Waits for a result on one of these chains. @returns null after `waitMs`, or once `signal` has aborted */
  wait(chains: readonly number[], look: ResultLookup, signal: AbortSignal): Promise<string | null> {
    if (signal.aborted) return Promise.resolve(null)
    return new Promise((resolve) => {
      const waiter: ResultWaiter = { look, answer: (answer) => end(answer) }
      const leave = () => end(null)
      const cancel = this.#clock.after(this.#waitMs, leave)
      const end = (answer: string | null) => {
        cancel()
        signal.removeEventListener('abort', leave)
        for (const chain of chains) this.#waiters.get(chain)?.delete(waiter)
        this.#size--
        resolve(answer)
      }
      this.#size++
      for (const chain of chains) {
        const waiters = this.#waiters.get(chain) ?? new Set()
        this.#waiters.set(chain, waiters.add(waiter))
      }
      signal.addEventListener('abort', leave, { once: true })
    })
  }
}
