/** Makes a block of each chain in each interval. */
import { type Clock, notBefore } from '#ground/base/clock.ts'
import type { PacedSource, Pacer } from './paced-source.ts'

/** Blocks that are overdue by more than this are skipped: the node or this machine cannot keep the pace. */
const MAX_LAG_MS = 1000

/**
 * Makes blocks on whichever chain the source has work of. Braiding keeps the chains together.
 * @param blockTimeMs time between two blocks of a chain
 * @param chains all chains of the network
 */
export function constantPacer(clock: Clock, blockTimeMs: number, chains: readonly number[]): Pacer {
  const run = (source: PacedSource, signal: AbortSignal) => {
    let dueMs = clock.monotonicMs()
    let cancel: () => void = () => undefined
    const wait = () => {
      if (!signal.aborted) cancel = notBefore(clock, dueMs, make)
    }
    const make = () => {
      source.nextBlock(signal).then(
        () => {
          // Counted from the due time, so that slow timers cost no blocks.
          const startMs = Math.max(dueMs, clock.monotonicMs() - MAX_LAG_MS)
          dueMs = startMs + blockTimeMs / (source.wanted ?? chains).length
          wait()
        },
        // The source has ended.
        () => undefined,
      )
    }
    signal.addEventListener('abort', () => cancel(), { once: true })
    wait()
  }
  return { run, waitReason: 'until the next block is due' }
}
