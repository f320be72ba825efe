/** Runs engines for a trial, and counts their hashes. */
import { type Clock, sleep } from '#ground/base/clock.ts'
import { untilAborted } from '#ground/base/signals.ts'
import { FREE_NONCE } from '#ground/chain/nonce.ts'
import type { Engine } from '../engine/engine.ts'
import { EngineSet } from '../mine/engine-set.ts'

/** A trial goes on for up to this time if other programs leave it no hash. */
const MAX_TRIAL_MS = 60_000

/** Hashes of a trial. */
interface TrialHashCount {
  /** 0 if a minute had none. */
  readonly hashes: number
  readonly elapsedMs: number
}

export interface TrialDuration {
  readonly clock: Clock
  readonly stopped: AbortSignal
}

/**
 * Starts engines, lets them search through the warm-up, measures, and stops them.
 * @param measure called after the warm-up
 * @returns what `measure` returned, or null when stopped
 * @throws the errors of `measure` and of engines that do not start
 */
export async function runTrial<T>(
  engines: readonly Engine[],
  { workBytes, warmUpMs }: { readonly workBytes: number; readonly warmUpMs: number },
  { clock, stopped }: TrialDuration,
  measure: (engines: EngineSet) => Promise<T>,
): Promise<T | null> {
  const trial = new EngineSet(clock)
  const events = { onCandidate: () => undefined, onWarning: () => undefined }
  try {
    await Promise.race([trial.start(engines, workBytes, events), untilAborted(stopped)])
    if (stopped.aborted) return null
    // No hash meets this target.
    const work = { sequence: 1, job: 'trial', bytes: new Uint8Array(workBytes), target: 0n, fixedNonce: FREE_NONCE }
    await Promise.race([trial.setWork(work), untilAborted(stopped)])
    await sleep(clock, warmUpMs, stopped)
    const measured = await measure(trial)
    return stopped.aborted ? null : measured
  } finally {
    await trial.stop()
  }
}

/** Counts hashes for `trialMs`, and for as long again until there is one. Returns early when stopped. */
export async function trialHashes(
  engines: Pick<EngineSet, 'hashes'>,
  trialMs: number,
  { clock, stopped }: TrialDuration,
): Promise<TrialHashCount> {
  const startMs = clock.monotonicMs()
  const before = engines.hashes()
  let hashes = 0
  let elapsedMs = 0
  while (hashes === 0 && elapsedMs < MAX_TRIAL_MS && !stopped.aborted) {
    await sleep(clock, trialMs, stopped)
    elapsedMs = clock.monotonicMs() - startMs
    hashes = engines.hashes() - before
  }
  return { hashes, elapsedMs }
}
