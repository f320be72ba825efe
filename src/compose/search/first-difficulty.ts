/**
 * Where the difficulty of an embedded network begins: at what this machine searches. A network that begins far too easy
 * gets its first blocks in a burst, faster than it can hand out work.
 */
import { type Clock, sleep } from '../../core/clock.ts'
import type { Graph } from '../../core/graph.ts'
import { headerLayout } from '../../core/header.ts'
import { FREE_NONCE } from '../../core/nonce.ts'
import type { Engine } from '../../engine/engine.ts'
import { EngineSet } from '../../mine/engine-set.ts'
import { aborted } from '../../mine/every.ts'
import { systemClock } from '../../platform/clock.ts'
import type { MinerSetup, OwnSearch } from '../setup.ts'
import { Engines } from './engines.ts'

/** Batches of a GPU grow to their size meanwhile. */
const WARM_UP_MS = 100
const TRIAL_MS = 400
/** Longest mean time between two blocks of the network at first. Graphs with few chains begin faster than they go on. */
const MAX_INTERVAL_MS = 1000

export interface NewNetwork {
  readonly graph: Graph
  /** Intended time between blocks of a chain. */
  readonly blockDelayMs: number
}

/**
 * Hashes for which this machine takes as long as the network is to take for a block: the block delay over all chains, and
 * at most a second. undefined: the engines do not tell their rate beforehand, or it was stopped meanwhile. Throws
 * NewcutError as the start of a miner does.
 */
export async function measuredDifficulty(
  search: MinerSetup['search'],
  network: NewNetwork,
  stopped: AbortSignal,
): Promise<bigint | undefined> {
  // A command is slow to start, and a fleet is elsewhere.
  if (search.kind !== 'own') return undefined
  const { workBytes } = headerLayout(network.graph.degree)
  try {
    const { own } = await new Engines(workBytes, stopped).replacementFor(untuned(search))
    const rate = await rateOf(own, workBytes, { clock: systemClock, stopped })
    return rate === null ? undefined : firstDifficulty(rate, network)
  } catch (error) {
    if (stopped.aborted) return undefined
    throw error
  }
}

/** Tuning a card takes seconds and gains a tenth: the miner does that. */
function untuned(setup: OwnSearch): OwnSearch {
  const { gpu } = setup
  return gpu === null ? setup : { ...setup, gpu: { ...gpu, tuningFile: null, retune: false } }
}

/** Hashes per second of these engines together; null: there is none, or it was stopped. They are stopped at the end. */
export async function rateOf(
  engines: readonly Engine[],
  workBytes: number,
  { clock, stopped }: { readonly clock: Clock; readonly stopped: AbortSignal },
): Promise<number | null> {
  if (engines.length === 0) return null
  const trial = new EngineSet(clock)
  const events = { onCandidate: () => undefined, onWarning: () => undefined }
  try {
    await Promise.race([trial.start(engines, workBytes, events), aborted(stopped)])
    if (stopped.aborted) return null
    // No hash meets this target.
    const work = { sequence: 1, job: 'trial', bytes: new Uint8Array(workBytes), target: 0n, fixedNonce: FREE_NONCE }
    await Promise.race([trial.setWork(work), aborted(stopped)])
    await sleep(clock, WARM_UP_MS, stopped)
    const [startMs, before] = [clock.monotonicMs(), trial.hashes()]
    await sleep(clock, TRIAL_MS, stopped)
    const hashes = trial.hashes() - before
    return stopped.aborted || hashes === 0 ? null : (hashes * 1000) / (clock.monotonicMs() - startMs)
  } finally {
    await trial.stop()
  }
}

/** In hashes, with two significant digits: the trial is short. */
export function firstDifficulty(hashesPerSecond: number, { graph, blockDelayMs }: NewNetwork): bigint {
  const intervalMs = Math.min(blockDelayMs / graph.adjacents.length, MAX_INTERVAL_MS)
  const hashes = Math.max(1, (hashesPerSecond * intervalMs) / 1000)
  return BigInt(Math.round(Number(hashes.toPrecision(2))))
}
