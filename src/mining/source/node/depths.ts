/**
 * Follows blocks that a node has taken, and the blocks in their place, until they are settled. Blocks of a chain are
 * looked up together when the chain has advanced. Reports replaced blocks, and those that return.
 */
import { setMaxListeners } from 'node:events'
import { NewcutError } from '#ground/base/errors.ts'
import { type FollowUp, mayContinue } from '#ground/chain/solution.ts'
import type { NodeCalls } from './calls.ts'
import type { BlockName, BlockPosition, MiningNode } from './mining-node.ts'

/** Minimum interval between lookups on a chain, which may advance many times a second. */
const MIN_PAUSE_MS = 1000
/** Depth of a confirmed block that this run has not seen. */
export const UNSEEN_DEPTH = 0
/** Interval of lookups on a chain without news. */
const POLL_MS = 5_000
/**
 * Maximum number of heights per lookup, which keeps an answer of the node below 5 kB. Further heights follow in the next
 * ones, then it starts from the lowest again.
 */
const MAX_HEIGHTS = 100
/**
 * If a node denies a block that it had, it is believed after this time: another node may answer at its address for a
 * while.
 */
const FORGOTTEN_MS = 600_000

/** The block at a height. */
interface BlockAtHeight {
  /** Counted from 1, the head. */
  readonly depth: number
  /** Whether it is the followed block. */
  readonly isThere: boolean
}

/** `id`: base64url block hash. */
type FollowedBlock = BlockName & { readonly id: string }

interface BlockWaiter {
  readonly block: FollowedBlock
  /** Called with null when the lookups end. */
  readonly report: (sight: BlockAtHeight | null) => void
}

/** A reported step that later lookups may change. */
export type ChainStep = Extract<FollowUp, { readonly step: 'confirmed' | 'stale' | 'orphaned' }>

interface ChainWatch {
  readonly waiters: Set<BlockWaiter>
  readonly dueMs: number
  readonly cancel: () => void
}

/** A round of lookups on a chain, from its lowest block to the highest one at the start of the round. */
interface LookupRound {
  readonly askedUpTo: number
  readonly end: number
}

interface DepthWatchOptions {
  readonly node: Pick<MiningNode, 'branch' | 'positionOf'>
  readonly calls: NodeCalls
  /** Required depth of a settled block; 1 is the head. */
  readonly confirmations: number
  /** Called with an error that the node did not cause. */
  readonly onFault: (error: unknown) => void
}

export class DepthWatch {
  readonly #options: DepthWatchOptions
  readonly #chains = new Map<number, ChainWatch>()
  /** Chain -> time of the last lookup. */
  readonly #lookedAtMs = new Map<number, number>()
  readonly #rounds = new Map<number, LookupRound>()
  readonly #stopped = new AbortController()

  constructor(options: DepthWatchOptions) {
    this.#options = options
    // Each chain adds a listener.
    setMaxListeners(0, this.#stopped.signal)
  }

  /** Looks up a chain soon, because it may have advanced. */
  lookSoon(chain: number): void {
    const watch = this.#chains.get(chain)
    const lookedAtMs = this.#lookedAtMs.get(chain) ?? Number.NEGATIVE_INFINITY
    if (watch !== undefined) this.#schedule(chain, watch.waiters, Math.max(this.#nowMs, lookedAtMs + MIN_PAUSE_MS))
  }

  /**
   * Follows a block from the last reported step. Yields greater depths, its replacement and its return. Ends when
   * enough blocks are above its height, or when the signal aborts.
   */
  async *follow(block: FollowedBlock, last: ChainStep, signal: AbortSignal): AsyncGenerator<FollowUp, void, void> {
    let reported = last
    let unknownSinceMs: number | null = null
    for (;;) {
      if (!mayContinue(reported, this.#options.confirmations)) return
      const isUnseen = reported.step === 'confirmed' && reported.depth === UNSEEN_DEPTH && unknownSinceMs === null
      const sight = await this.#nextLookup(block, signal, isUnseen ? 0 : POLL_MS)
      if (sight === null) return
      const before = reported
      if (sight.isThere) {
        reported = { step: 'confirmed', depth: sight.depth }
        unknownSinceMs = null
      } else if (reported.step === 'confirmed') {
        const kind = await this.#kindOf(block, signal)
        if (kind === 'passed') unknownSinceMs ??= this.#nowMs
        else if (kind !== null) unknownSinceMs = null
        const isForgotten = unknownSinceMs !== null && this.#nowMs - unknownSinceMs >= FORGOTTEN_MS
        if (kind === 'orphaned' || isForgotten) reported = { step: 'orphaned', mayReturn: true }
      }
      const isSettled = !sight.isThere && sight.depth >= this.#options.confirmations
      if (isSettled && reported.step !== 'confirmed') return yield { step: reported.step }
      if (isNews(before, reported)) yield reported
    }
  }

  /**
   * Asks the node for a block that is not on its branch.
   * @returns null if the node does not answer
   */
  async #kindOf(block: FollowedBlock, signal: AbortSignal): Promise<BlockPosition['kind'] | null> {
    const { node, calls } = this.#options
    try {
      const { kind } = await calls.ask('lost block', (each) => node.positionOf(block, each), signal)
      return kind
    } catch (error) {
      if (!signal.aborted && !(error instanceof NewcutError)) this.#options.onFault(error)
      return null
    }
  }

  /** Ends all lookups. */
  stop(): void {
    this.#stopped.abort()
    for (const { waiters, cancel } of this.#chains.values()) {
      cancel()
      for (const { report: tell } of waiters) tell(null)
    }
    this.#chains.clear()
  }

  /**
   * Waits for the next lookup of the chain, within this time at the latest.
   * @returns null if there is none
   */
  #nextLookup(block: FollowedBlock, signal: AbortSignal, withinMs: number): Promise<BlockAtHeight | null> {
    if (this.#stopped.signal.aborted || signal.aborted) return Promise.resolve(null)
    return new Promise((resolve) => {
      const leave = () => waiter.report(null)
      const waiter: BlockWaiter = {
        block,
        report: (sight) => {
          signal.removeEventListener('abort', leave)
          this.#leave(waiter)
          resolve(sight)
        },
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#wait(waiter, withinMs)
    })
  }

  #wait(waiter: BlockWaiter, withinMs: number): void {
    const { chain } = waiter.block
    const waiters = this.#chains.get(chain)?.waiters ?? new Set()
    waiters.add(waiter)
    const lookedAtMs = this.#lookedAtMs.get(chain) ?? Number.NEGATIVE_INFINITY
    this.#schedule(chain, waiters, Math.max(this.#nowMs + withinMs, lookedAtMs + MIN_PAUSE_MS))
  }

  #leave(waiter: BlockWaiter): void {
    const watch = this.#chains.get(waiter.block.chain)
    watch?.waiters.delete(waiter)
    if (watch?.waiters.size !== 0) return
    watch.cancel()
    this.#chains.delete(waiter.block.chain)
  }

  get #nowMs(): number {
    return this.#options.calls.clock.monotonicMs()
  }

  /** Schedules a lookup at this time, or earlier if one is planned. */
  #schedule(chain: number, waiters: Set<BlockWaiter>, atMs: number): void {
    const before = this.#chains.get(chain)
    if (before !== undefined && before.dueMs <= atMs) return
    before?.cancel()
    const { calls, onFault } = this.#options
    const cancel = calls.clock.after(atMs - this.#nowMs, () => void this.#lookUp(chain).catch(onFault))
    this.#chains.set(chain, { waiters, cancel, dueMs: atMs })
  }

  /** The heights of the next lookup. Blocks found during a round do not extend it. */
  #range(chain: number, heights: readonly number[]): { readonly lowest: number; readonly highest: number } {
    const { askedUpTo, end } = this.#rounds.get(chain) ?? { askedUpTo: 0, end: 0 }
    const left = askedUpTo < end ? heights.filter((height) => height > askedUpTo) : []
    const lowest = Math.min(...(left.length > 0 ? left : heights))
    const greatest = Math.max(...heights)
    const highest = Math.min(lowest + MAX_HEIGHTS - 1, greatest)
    this.#rounds.set(chain, { askedUpTo: highest, end: left.length > 0 ? end : greatest })
    return { lowest, highest }
  }

  /** Looks up all blocks of a chain once. Unanswered ones are looked up again. */
  async #lookUp(chain: number): Promise<void> {
    const watch = this.#chains.get(chain)
    if (watch === undefined) return
    const nowMs = this.#nowMs
    const { waiters } = watch
    // News during the lookup schedules another one.
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
      for (const { block, report: tell } of asked) {
        const id = ids.get(block.height)
        if (id !== undefined) tell({ depth: head - block.height + 1, isThere: id === block.id })
      }
    } catch (error) {
      if (this.#stopped.signal.aborted) return
      if (!(error instanceof NewcutError)) throw error
      // Requests for work report an outage. Nothing is lost here: the lookup is repeated.
    }
    const left = this.#chains.get(chain)
    if (left !== undefined) this.#schedule(chain, left.waiters, nowMs + POLL_MS)
  }
}

/** Whether the step says which block is at the height. */
export const isChainStep = (step: FollowUp): step is ChainStep => ['confirmed', 'stale', 'orphaned'].includes(step.step)

function isNews(before: ChainStep, now: ChainStep): boolean {
  if (before.step !== now.step) return true
  return before.step === 'confirmed' && now.step === 'confirmed' && before.depth !== now.depth
}
