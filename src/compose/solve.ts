/** Solves one piece of work on the CPU, without a node. */

import { systemClock } from '#ground/platform/clock.ts'
import type { KernelPreference } from '#mining/engine/cpu/names.ts'
import type { Priority } from '#mining/engine/cpu/priority.ts'
import { EngineSearch } from './nonce-search.ts'

interface SolveSetup {
  readonly work: Uint8Array
  /** A hash at or below this is a solution. */
  readonly target: bigint
  readonly threads: number
  readonly kernel: KernelPreference
  readonly priority: Priority
}

interface SolveResult {
  readonly nonce: bigint
  readonly hashes: number
  /** Duration of the search, without the start of the threads. */
  readonly durationMs: number
}

interface SolvePorts {
  readonly onWarning: (message: string) => void
  readonly stopped: AbortSignal
}

/**
 * Searches until the work is solved. @returns null if stopped first.
 * @throws NewcutError KERNEL_REFUSED
 */
export async function solveWork(setup: SolveSetup, { onWarning, stopped }: SolvePorts): Promise<SolveResult | null> {
  const { work, target, ...threads } = setup
  const search = new EngineSearch(threads, onWarning)
  let hashes = 0
  const onHashes = (tried: number) => {
    hashes = tried
  }
  try {
    await search.prepare(work.length, stopped)
    const startMs = systemClock.monotonicMs()
    const nonce = await search.search(work, target, { signal: stopped, onHashes })
    return { nonce, hashes, durationMs: systemClock.monotonicMs() - startMs }
  } catch (error) {
    if (stopped.aborted) return null
    throw error
  } finally {
    await search.close()
  }
}
