/**
 * How deep blocks lie that a node has taken, or those in their place. Blocks of a chain are looked for together, when the
 * chain has moved on; a block that is replaced is told of, and so is one that comes back.
 */
import { setMaxListeners } from 'node:events'
import { NewcutError } from '../../core/errors.ts'
import { type FollowUp, mayGoOn } from '../../core/solution.ts'
import type { NodeCalls } from './calls.ts'
import type { BlockName, MiningNode, Place } from './mining-node.ts'

/** Least time between two questions about a chain: a chain may move on many times a second. */
const MIN_PAUSE_MS = 1000
/** Depth of a confirmed block that this run has not seen yet. */
export const UNSEEN = 0
/** A chain of which there is no news is asked about all the same. */
const POLL_MS = 5_000
/** Most heights in one question; blocks above are asked about in the next ones, and then the lowest again. */
const MAX_HEIGHTS = 100
/**
 * Behind its address may be another node for a while: one that does not know a block which it had is believed after this
 * time.
 */
const FORGOTTEN_MS = 600_000

/** What is at the height of a block. */
interface Sight {
  /** Counted from 1, the head. */
  readonly depth: number
  /** Whether it is the block itself. */
  readonly isThere: boolean
}

/** `id`: its hash, as in JSON. */
type FollowedBlock = BlockName & { readonly id: string }

interface Waiter {
  readonly block: FollowedBlock
  /** null: nobody looks any more. */
  readonly tell: (sight: Sight | null) => void
}

/** What was told last of a block that may be told of again. */
export type Standing = Extract<FollowUp, { readonly step: 'confirmed' | 'stale' | 'orphaned' }>

interface Watch {
  readonly waiters: Set<Waiter>
  readonly dueMs: number
  readonly cancel: () => void
}

/** Questions about a chain that reach from its lowest block to the highest that there was at the first of them. */
interface Round {
  readonly askedUpTo: number
  readonly end: number
}

export interface DepthsOptions {
  readonly node: Pick<MiningNode, 'branch' | 'placeOf'>
  readonly calls: NodeCalls
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
  readonly #rounds = new Map<number, Round>()
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
   * Goes on from what was told last: told are greater depths, that the block was replaced, and that it is back. Ends when
   * so many blocks are above its height that it is settled, or the signal aborts.
   */
  async *follow(block: FollowedBlock, last: Standing, signal: AbortSignal): AsyncGenerator<FollowUp, void, void> {
    let told = last
    let unknownSinceMs: number | null = null
    for (;;) {
      if (!mayGoOn(told, this.#options.confirmations)) return
      const isUnseen = told.step === 'confirmed' && told.depth === UNSEEN && unknownSinceMs === null
      const sight = await this.#next(block, signal, isUnseen ? 0 : POLL_MS)
      if (sight === null) return
      const before = told
      if (sight.isThere) {
        told = { step: 'confirmed', depth: sight.depth }
        unknownSinceMs = null
      } else if (told.step === 'confirmed') {
        const kind = await this.#kindOf(block, signal)
        if (kind === 'passed') unknownSinceMs ??= this.#nowMs
        else if (kind !== null) unknownSinceMs = null
        const isForgotten = unknownSinceMs !== null && this.#nowMs - unknownSinceMs >= FORGOTTEN_MS
        if (kind === 'orphaned' || isForgotten) told = { step: 'orphaned', mayReturn: true }
      }
      const isSettled = !sight.isThere && sight.depth >= this.#options.confirmations
      if (isSettled && told.step !== 'confirmed') return yield { step: told.step }
      if (isNews(before, told)) yield told
    }
  }

  /** Where the node says that a block is which is not on its branch; null: it does not say. */
  async #kindOf(block: FollowedBlock, signal: AbortSignal): Promise<Place['kind'] | null> {
    const { node, calls } = this.#options
    try {
      const { kind } = await calls.ask('lost block', (each) => node.placeOf(block, each), signal)
      return kind
    } catch (error) {
      if (!signal.aborted && !(error instanceof NewcutError)) this.#options.onFault(error)
      return null
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

  /** What the next look at the chain shows, after this time at the latest; null: there is none. */
  #next(block: FollowedBlock, signal: AbortSignal, withinMs: number): Promise<Sight | null> {
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
      this.#wait(waiter, withinMs)
    })
  }

  #wait(waiter: Waiter, withinMs: number): void {
    const { chain } = waiter.block
    const waiters = this.#chains.get(chain)?.waiters ?? new Set()
    waiters.add(waiter)
    const lookedAtMs = this.#lookedAtMs.get(chain) ?? Number.NEGATIVE_INFINITY
    this.#schedule(chain, waiters, Math.max(this.#nowMs + withinMs, lookedAtMs + MIN_PAUSE_MS))
  }

  #leave(waiter: Waiter): void {
    const watch = this.#chains.get(waiter.block.chain)
    watch?.waiters.delete(waiter)
    if (watch?.waiters.size !== 0) return
    watch.cancel()
    this.#chains.delete(waiter.block.chain)
  }

  get #nowMs(): number {
    return this.#options.calls.clock.monotonicMs()
  }

  /** Looks at a chain at this time, or earlier if that was planned. */
  #schedule(chain: number, waiters: Set<Waiter>, atMs: number): void {
    const before = this.#chains.get(chain)
    if (before !== undefined && before.dueMs <= atMs) return
    before?.cancel()
    const { calls, onFault } = this.#options
    const cancel = calls.clock.after(atMs - this.#nowMs, () => void this.#look(chain).catch(onFault))
    this.#chains.set(chain, { waiters, cancel, dueMs: atMs })
  }

  /** The heights that the next question is about. Blocks that are found during a round do not make it longer. */
  #range(chain: number, heights: readonly number[]): { readonly lowest: number; readonly highest: number } {
    const { askedUpTo, end } = this.#rounds.get(chain) ?? { askedUpTo: 0, end: 0 }
    const left = askedUpTo < end ? heights.filter((height) => height > askedUpTo) : []
    const lowest = Math.min(...(left.length > 0 ? left : heights))
    const greatest = Math.max(...heights)
    const highest = Math.min(lowest + MAX_HEIGHTS - 1, greatest)
    this.#rounds.set(chain, { askedUpTo: highest, end: left.length > 0 ? end : greatest })
    return { lowest, highest }
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
    const { node, calls } = this.#options
    const asked = [...waiters]
    const heights = asked.map(({ block }) => block.height)
    const { lowest, highest } = this.#range(chain, heights)
    try {
      const request = (signal: AbortSignal) => node.branch(chain, lowest, highest, signal)
      const { signal } = this.#stopped
      const { head, ids } = await calls.ask('chain', request, signal)
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

/** Whether the step says what is at the height of the block. */
export const isStanding = (told: FollowUp): told is Standing => ['confirmed', 'stale', 'orphaned'].includes(told.step)

function isNews(before: Standing, now: Standing): boolean {
  if (before.step !== now.step) return true
  return before.step === 'confirmed' && now.step === 'confirmed' && before.depth !== now.depth
}
