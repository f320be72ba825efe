/** Makes the blocks that callers order, one at a time, and the orders in turn. */

import { onAbort } from '#client/node/http.ts'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { NewcutError, operatingError } from '#ground/base/errors.ts'
import { everyAfter, orAborted, withFirstOf } from '#ground/base/signals.ts'
import type { Network } from '#ground/chain/network.ts'
import { sourceErrors } from '../errors.ts'
import { blockingChainOf } from '../node/chains.ts'
import type { PacedBlock, PacedSource, Pacer } from './paced-source.ts'

/** Chain -> a number of blocks, or a height. */
export type ChainCounts = ReadonlyMap<number, number>

/** A block that an order made. */
export type RequestedBlock = Omit<PacedBlock, 'isMade'>

interface OnDemandPacerOptions {
  readonly clock: Clock
  /**
   * Requests the heights: chain -> height of its head at the node that issued the current work.
   * @throws NewcutError
   */
  readonly heights: (signal: AbortSignal) => Promise<ChainCounts>
  readonly graphHistory: Network['graphHistory']
}

/** Interval at which the heads are read again, as other miners may move them, and after a failure. */
const LOOK_MS = 1000

export class OnDemandPacer implements Pacer {
  readonly waitReason = 'for POST /make-blocks'
  readonly #options: OnDemandPacerOptions
  readonly #running: Promise<{ readonly source: PacedSource; readonly signal: AbortSignal }>
  run: Pacer['run'] = () => undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: OnDemandPacerOptions) {
    this.#options = options
    this.#running = new Promise((resolve) => {
      this.run = (source, signal) => resolve({ source, signal })
    })
  }

  /**
   * Makes blocks once earlier orders are done. A chain at distance k can be at most k lower, so chains that hold up
   * another grow too.
   * @param counts chain -> blocks to make
   * @returns the blocks in their order. Rejects with NewcutError BAD_INPUT for chains that the network lacks, and
   * BAD_OPTION for chains that the user leaves out. Rejects with the reason of the signal, or of the end of the source.
   * Blocks that were made before stay.
   */
  make(counts: ChainCounts, signal: AbortSignal): Promise<readonly RequestedBlock[]> {
    const made = this.#last.then(async () => {
      const running = await orAborted(this.#running, signal)
      return withFirstOf([signal, running.signal], (ends) => this.#make(running.source, counts, ends))
    })
    this.#last = made.catch(() => undefined)
    return made
  }

  async #make(source: PacedSource, counts: ChainCounts, signal: AbortSignal): Promise<readonly RequestedBlock[]> {
    const left = new Map([...counts].filter(([, count]) => count > 0))
    const made: RequestedBlock[] = []
    while (left.size > 0) {
      const block = await this.#makeOne(source, left, signal)
      if (block === null) continue
      made.push(block)
      const count = (left.get(block.chain) ?? 0) - 1
      if (count > 0) left.set(block.chain, count)
      else left.delete(block.chain)
    }
    return made
  }

  /** @returns null if no block came of the solution */
  async #makeOne(source: PacedSource, left: ChainCounts, signal: AbortSignal): Promise<RequestedBlock | null> {
    const steer = async (ends: AbortSignal) => {
      const chain = nextChain(left, await this.#heights(ends), this.#options.graphHistory)
      ends.throwIfAborted()
      if (source.wanted?.includes(chain) === false) {
        throw operatingError(sourceErrors.chainLeftOut, { chain })
      }
      source.steer([chain])
    }
    try {
      const { isMade, ...block } = await withFault(signal, async (ends, fault) => {
        await steer(ends)
        everyAfter(this.#options.clock, LOOK_MS, ends, () => steer(ends).catch(fault))
        return source.nextBlock(ends)
      })
      // Otherwise the source asks for work of a chain that probably waits for others now.
      source.steer(null)
      return (await orAborted(isMade, signal)) ? block : null
    } finally {
      source.steer(null)
    }
  }

  /** The heights, from the first answer. Rejects with the reason of the signal. */
  async #heights(signal: AbortSignal): Promise<ChainCounts> {
    for (;;) {
      signal.throwIfAborted()
      try {
        return await this.#options.heights(signal)
      } catch (error) {
        if (signal.aborted || !(error instanceof NewcutError)) throw error
        // The source reports the outage.
        await sleep(this.#options.clock, LOOK_MS, signal)
      }
    }
  }
}

/**
 * Runs `run` with a signal that aborts at its end, at its first fault, and with `signal`. Rejects with the first
 * reason.
 */
async function withFault<T>(
  signal: AbortSignal,
  run: (ends: AbortSignal, fault: (error: unknown) => void) => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const fault = (error: unknown) => over.abort(error)
  const leave = onAbort(signal, () => fault(signal.reason))
  try {
    return await run(over.signal, fault)
  } finally {
    leave()
    over.abort()
  }
}

/**
 * The chain to mine for an order: its lowest chain, or the one that holds it up.
 * @throws NewcutError BAD_INPUT for chains that the network lacks
 */
export function nextChain(left: ChainCounts, heights: ChainCounts, history: Network['graphHistory']): number {
  const unknown = [...left.keys()].filter((chain) => !heights.has(chain))
  if (unknown.length > 0) {
    const first = Math.min(...heights.keys())
    const last = Math.max(...heights.keys())
    throw operatingError(sourceErrors.unknownChain, { chains: unknown.join(', '), first, last })
  }
  const heightOf = (chain: number) => heights.get(chain) ?? 0
  let [chain] = [...left.keys()].sort((a, b) => heightOf(a) - heightOf(b) || a - b)
  for (;;) {
    // It is lower, so the walk ends.
    const lower = blockingChainOf(history, heights, chain)
    if (lower === null) return chain
    chain = lower
  }
}
