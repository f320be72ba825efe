/** The hashes of engines during a trial. */
import { type Clock, sleep } from '../../base/clock.ts'
import type { EngineSet } from '../../mine/engine-set.ts'

/** A trial goes on for up to this time if other programs leave it no hash. */
const MAX_TRIAL_MS = 60_000

export interface TrialHashes {
  /** 0 if a minute had none. */
  readonly hashes: number
  readonly elapsedMs: number
}

/** Counts hashes for `trialMs`, and for as long again until there is one. Returns early when stopped. */
export async function trialHashes(
  engines: Pick<EngineSet, 'hashes'>,
  trialMs: number,
  { clock, stopped }: { readonly clock: Clock; readonly stopped: AbortSignal },
): Promise<TrialHashes> {
  const [startMs, before] = [clock.monotonicMs(), engines.hashes()]
  let [hashes, elapsedMs] = [0, 0]
  while (hashes === 0 && elapsedMs < MAX_TRIAL_MS && !stopped.aborted) {
    await sleep(clock, trialMs, stopped)
    elapsedMs = clock.monotonicMs() - startMs
    hashes = engines.hashes() - before
  }
  return { hashes, elapsedMs }
}
