/** One piece of work on the CPU, without a node. */
import { withNonce } from '../core/header.ts'
import { FREE_NONCE } from '../core/nonce.ts'
import { meets, powHash } from '../core/pow.ts'
import { CpuEngine } from '../engine/cpu/cpu.ts'
import type { KernelPreference } from '../engine/cpu/names.ts'
import type { Priority } from '../engine/cpu/priority.ts'
import type { Candidate } from '../engine/engine.ts'
import { nonceRanges } from '../engine/range.ts'
import { systemClock } from '../platform/clock.ts'

export interface SolveSetup {
  readonly work: Uint8Array
  /** A hash of at most this is a solution. */
  readonly target: bigint
  readonly threads: number
  readonly kernel: KernelPreference
  readonly priority: Priority
}

export interface Solved {
  readonly nonce: bigint
  readonly hashes: number
  /** Time of the search, without the start of the threads. */
  readonly durationMs: number
}

export interface SolvePorts {
  readonly onWarning: (message: string) => void
  readonly stopped: AbortSignal
}

/** Searches until the work is solved; null when it was stopped first. Throws NewcutError KERNEL_REFUSED. */
export async function solveWork(setup: SolveSetup, { onWarning, stopped }: SolvePorts): Promise<Solved | null> {
  if (stopped.aborted) return null
  const { work, target, threads, kernel, priority } = setup
  const engine = new CpuEngine({ ranges: nonceRanges(threads, Math.random), kernel, priority, clock: systemClock })
  let startMs = 0
  const candidate = await new Promise<Candidate | null>((resolve, reject) => {
    stopped.addEventListener('abort', () => resolve(null), { once: true })
    const onCandidate = (claim: Candidate) => {
      if (meets(powHash(withNonce(work, claim.nonce)), target)) resolve(claim)
    }
    const search = () => {
      startMs = systemClock.monotonicMs()
      return engine.setWork({ sequence: 1, job: 'solve', bytes: work, target, fixedNonce: FREE_NONCE })
    }
    engine.start(work.length, { onCandidate, onWarning }).then(search).catch(reject)
  })
  const durationMs = systemClock.monotonicMs() - startMs
  await engine.stop()
  if (candidate === null) return null
  return { nonce: candidate.nonce, hashes: engine.hashes(), durationMs }
}
