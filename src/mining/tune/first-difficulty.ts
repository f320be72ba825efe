/**
 * Measures the initial difficulty of an embedded network from the hashrate of this machine. A network that starts far
 * too easy produces its first blocks in a burst, faster than it can hand out work.
 */
import type { Graph } from '#ground/chain/graph.ts'
import { headerLayout } from '#ground/chain/header.ts'
import type { Engine } from '../engine/engine.ts'
import type { EnginesFor, OwnSearch, TunableSearch } from './own-search.ts'
import { runTrial, type TrialDuration, trialHashes } from './trial.ts'

/** GPU batches grow to their final size during this time. */
const WARM_UP_MS = 100
const TRIAL_MS = 400
/**
 * Upper bound of the initial mean block interval of the network, so graphs with few chains start faster than their
 * delay.
 */
const MAX_INTERVAL_MS = 1000

interface NewNetwork {
  readonly graph: Graph
  /** Intended time between blocks of a chain. */
  readonly blockDelayMs: number
}

/**
 * Measures the difficulty for a network that this machine starts.
 * @returns the hashes that this machine computes in one block interval: the block delay divided by the number of
 * chains, at most one second. Undefined if the hashrate is unknown in advance, or when stopped.
 * @throws the NewcutErrors of a miner's start
 */
export async function measureDifficulty(
  search: TunableSearch,
  network: NewNetwork,
  { enginesFor, ...time }: TrialDuration & { readonly enginesFor: EnginesFor },
): Promise<bigint | undefined> {
  // An external worker starts slowly, and a fleet has no devices here.
  if (search.kind !== 'own') return undefined
  const { workBytes } = headerLayout(network.graph.degree)
  try {
    const rate = await rateOfTrial(await enginesFor(skipTuning(search), workBytes), workBytes, time)
    return rate === null ? undefined : firstDifficulty(rate, network)
  } catch (error) {
    if (time.stopped.aborted) return undefined
    throw error
  }
}

/** The search without GPU tuning, which takes seconds and gains a tenth. The miner tunes later. */
function skipTuning(setup: OwnSearch): OwnSearch {
  const { gpu } = setup
  return gpu === null ? setup : { ...setup, gpu: { ...gpu, tuningFile: null, retune: false } }
}

/**
 * Measures the total hashrate in hashes per second, then stops the engines. @returns null without engines or when
 * stopped
 */
export async function rateOfTrial(
  engines: readonly Engine[],
  workBytes: number,
  time: TrialDuration,
): Promise<number | null> {
  if (engines.length === 0) return null
  return await runTrial(engines, { workBytes, warmUpMs: WARM_UP_MS }, time, async (running) => {
    const { hashes, elapsedMs } = await trialHashes(running, TRIAL_MS, time)
    return hashes === 0 ? null : (hashes * 1000) / elapsedMs
  })
}

/** The difficulty in hashes, rounded to two significant digits because the trial is short. */
export function firstDifficulty(hashesPerSecond: number, { graph, blockDelayMs }: NewNetwork): bigint {
  const intervalMs = Math.min(blockDelayMs / graph.adjacents.length, MAX_INTERVAL_MS)
  const hashes = Math.max(1, (hashesPerSecond * intervalMs) / 1000)
  return BigInt(Math.round(Number(hashes.toPrecision(2))))
}
