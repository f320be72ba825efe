/**
 * How deep blocks lie that a node has confirmed. Blocks of a chain are looked for together, when the chain has moved on;
 * a block that is replaced is told of, and so is one that comes back.
 */
import { setMaxListeners } from 'node:events'
import type { Clock } from '../../core/clock.ts'
import { NewcutError } from '../../core/errors.ts'
import type { FollowUp } from '../source.ts'
import { hedged } from './hedged.ts'
import type { SolvedBlock } from './look.ts'
import type { MiningNode } from './mining-node.ts'

/** Least time between two questions about a chain: a chain may move on many times a second. */
const MIN_PAUSE_MS = 1000
/** A chain of which there is no news is asked about all the same. */
const POLL_MS = 5_000
/** Most heights in one question; blocks above wait for the next one. */
const MAX_HEIGHTS = 100

/** What is at the height of a block. */
interface Sight {
  /** Counted from 1, the head. */
  readonly depth: number
  /** Whether it is the block itself. */
  readonly isThere: boolean
}

interface Waiter {
  readonly block: Pick<SolvedBlock, 'chain' | 'height'> & { readonly id: string }
  /** null: nobody looks any more. */
  readonly tell: (sight: Sight | null) => void
}

interface Watch {
  readonly waiters: Set<Waiter>
  readonly dueMs: number
  readonly cancel: () => void
}

export interface DepthsOptions {
  readonly node: Pick<MiningNode, 'branch'>
  readonly clock: Clock
  /** How deep a block has to lie before nobody looks for it any more; 1: the head. */
  readonly confirmations: number
  /** Called with an error that is no failure of the node. */
  readonly onFault: (error: unknown) => void
}

export class Depths {
  readonly #options: DepthsOptions
  readonly #chains = new Map<number, Watch>()
  /** Chain -> when the node was last asked about it. */
  readonly #lookedAtMs = new Map<number, number>()
  readonly #stopped = new AbortController()

  constructor(options: DepthsOptions) {
    this.#options = options
    // As many questions listen to it as there are chains.
    setMaxListeners(0, this.#stopped.signal)
  }

  /** The chain may have moved on. */
  news(chain: number): void {
    const watch = this.#chains.get(chain)
    const lookedAtMs = this.#lookedAtMs.get(chain) ?? Number.NEGATIVE_INFINITY
    if (watch !== undefined) this.#schedule(chain, watch.waiters, Math.max(this.#nowMs, lookedAtMs + MIN_PAUSE_MS))
  }

  /**
   * Goes on from a block that was seen at `depth`: told are greater depths, that it was replaced, and that it is back.
   * Ends when so many blocks are above its height that it is settled, or the signal aborts.
   */
  async *follow(block: Waiter['block'], depth: number, signal: AbortSignal): AsyncGenerator<FollowUp, void, void> {
    let told = depth
    for (let reached = depth; reached < this.#options.confirmations; ) {
      const sight = await this.#next(block, signal)
      if (sight === null) return
      reached = sight.depth
      if (sight.isThere && sight.depth !== told) yield { step: 'confirmed', depth: sight.depth }
      if (!sight.isThere && told > 0) yield { step: 'orphaned' }
      told = sight.isThere ? sight.depth : 0
    }
  }

  /** Nothing is asked any more. */
  stop(): void {
    this.#stopped.abort()
    for (const { waiters, cancel } of this.#chains.values()) {
      cancel()
      for (const { tell } of waiters) tell(null)
    }
    this.#chains.clear()
  }

  /** What the next look at the chain shows; null: there is none. */
  #next(block: Waiter['block'], signal: AbortSignal): Promise<Sight | null> {
    if (this.#stopped.signal.aborted || signal.aborted) return Promise.resolve(null)
    return new Promise((resolve) => {
      const leave = () => waiter.tell(null)
      const waiter: Waiter = {
        block,
        tell: (sight) => {
          signal.removeEventListener('abort', leave)
          this.#leave(waiter)
          resolve(sight)
        },
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#wait(waiter)
    })
  }

  #wait(waiter: Waiter): void {
    const { chain } = waiter.block
    const watch = this.#chains.get(chain)
    if (watch !== undefined) watch.waiters.add(waiter)
    else this.#schedule(chain, new Set([waiter]), this.#nowMs + POLL_MS)
  }

  #leave(waiter: Waiter): void {
    const watch = this.#chains.get(waiter.block.chain)
    watch?.waiters.delete(waiter)
    if (watch?.waiters.size !== 0) return
    watch.cancel()
    this.#chains.delete(waiter.block.chain)
  }

  get #nowMs(): number {
    return this.#options.clock.monotonicMs()
  }

  /** Looks at a chain at this time, or earlier if that was planned. */
  #schedule(chain: number, waiters: Set<Waiter>, atMs: number): void {
    const before = this.#chains.get(chain)
    if (before !== undefined && before.dueMs <= atMs) return
    before?.cancel()
    const { clock, onFault } = this.#options
    const cancel = clock.after(atMs - this.#nowMs, () => void this.#look(chain).catch(onFault))
    this.#chains.set(chain, { waiters, cancel, dueMs: atMs })
  }

  /** Asks the node once about all blocks of a chain. What it does not answer is asked again. */
  async #look(chain: number): Promise<void> {
    const watch = this.#chains.get(chain)
    if (watch === undefined) return
    const nowMs = this.#nowMs
    const { waiters } = watch
    // While the node is asked, news makes it be asked again.
    this.#lookedAtMs.set(chain, nowMs)
    this.#chains.set(chain, { waiters, cancel: () => undefined, dueMs: Number.POSITIVE_INFINITY })
    const { node, clock } = this.#options
    const asked = [...waiters]
    const lowest = Math.min(...asked.map(({ block }) => block.height))
    const highest = Math.min(lowest + MAX_HEIGHTS - 1, Math.max(...asked.map(({ block }) => block.height)))
    try {
      const request = (signal: AbortSignal) => node.branch(chain, lowest, highest, signal)
      const { signal } = this.#stopped
      const { head, ids } = await hedged(request, { clock, what: 'a question about a chain', signal })
      for (const { block, tell } of asked) {
        const id = ids.get(block.height)
        if (id !== undefined) tell({ depth: head - block.height + 1, isThere: id === block.id })
      }
    } catch (error) {
      if (this.#stopped.signal.aborted) return
      if (!(error instanceof NewcutError)) throw error
      // A node that is away is told of by whoever asks it for work. Here nothing is lost: it is asked again.
    }
    const left = this.#chains.get(chain)
    if (left !== undefined) this.#schedule(chain, left.waiters, nowMs + POLL_MS)
  }
}
