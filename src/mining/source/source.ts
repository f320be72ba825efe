/** Port 1: where work comes from, and where solutions go. The miner uses sources only through this interface. */

import type { FixedNonce, HeaderClass } from '#ground/chain/nonce.ts'
import type { FollowUp, Receipt } from '#ground/chain/solution.ts'
import type { Work } from '#ground/chain/work.ts'

/**
 * Why a job is new.
 *
 * - `newCut`: the chain of the previous job advanced, so that job is lost (preempted)
 * - `solved`: the previous job was solved
 * - `refreshed`: the same parents, with other transactions or another target
 * - `reconnected`: a chain advanced without news
 * - `better`: the expected reward per hash is higher on another chain
 * - `switched`: another node gives work
 * - `chosen`: the user chose other chains, or the pool gave work of another one
 */
export const jobReasons = [
  'start',
  'newCut',
  'solved',
  'refreshed',
  'reconnected',
  'better',
  'switched',
  'chosen',
] as const
export type JobReason = (typeof jobReasons)[number]

/** Nodes forget the payload of work after 5 minutes (PROTOCOL.md A.1), so older work cannot be submitted. */
export const WORK_LIFE_MS = 300_000

/** The fork vote of work: the next fork of its chain, and whether it votes for it. */
export interface ForkVote {
  readonly fork: number
  readonly isFor: boolean
}

/**
 * Work with an identity. A newer creation time does not change it.
 *
 * 1. A source yields the job, with the reason why it is new.
 * 2. The miner gives it to the engines under a sequence number, and under another one when its creation time moves.
 * 3. Claims come back with that number. One that meets the target makes a `Solution`.
 * 4. The next job ends this one, or null does. Late claims still count, because engines take a moment to switch.
 */
export interface Job {
  /** Unique within the source. */
  readonly id: string
  /** Address of the node or pool that issued it, and that takes its solutions. */
  readonly issuer: string
  readonly work: Work
  /** A hash <= this is a solution: the target in the work, or an easier one for shares. */
  readonly target: bigint
  /** Nonce bits that the searcher must not change. */
  readonly fixedNonce: FixedNonce
  /** Headers that the rigs of this miner may search with all nonces, as in EngineWork. */
  readonly headers?: HeaderClass | null | undefined
  /** Whether every solution counts, as for shares. Otherwise the first one ends the job. */
  readonly manySolutions: boolean
  readonly reason: JobReason
  /** Monotonic time at which the reason was noticed. */
  readonly noticedAtMs: number
}

/** A nonce that meets the target of a job. */
export interface Solution {
  readonly job: Job
  /** The work of the job, with the nonce and possibly a newer creation time. */
  readonly bytes: Uint8Array
  /** Whether an earlier run has seen its block in its chain. */
  readonly wasConfirmed?: boolean
}

/** Status of a node, a pool or the server of a fleet. */
export interface UpstreamStatus {
  /** Address, without user and password. */
  readonly url: string
  /** Whether it answers. */
  readonly up: boolean
  /** Whether it gives the current work. */
  readonly active: boolean
  /**
   * Mean number of blocks per chain that it lacks, compared with a heavier node one second earlier, or null if unknown.
   */
  readonly lag: number | null
  /** Latency of its last answer, or null if it does not answer. */
  readonly latencyMs: number | null
  /** Sum of the heights of its chains, or null if unknown. */
  readonly height: number | null
  /** Software version, or null if unknown. */
  readonly version: string | null
  /** Why it is not used, as in "does not answer", or null. */
  readonly problem: string | null
}

/** Last known state of a chain. */
export interface ChainStatus {
  readonly chain: number
  /** Height of its head. */
  readonly height: number
  /** Difficulty of the block at its head in hashes, or null if unknown. */
  readonly difficulty: number | null
  /** A chain that has to advance before this one can have a next block, or null if this one can be mined. */
  readonly waitsFor: number | null
  /** Chains that its next block refers to, ascending. */
  readonly adjacents: readonly number[]
  /** Whether it is one of the chains to mine. */
  readonly isWanted: boolean
}

export interface SourceEvents {
  /** A failure that is being retried. Called once per outage, however many attempts it takes. */
  readonly onTrouble: (message: string) => void
  /** The outage is over. */
  readonly onRecovered: (message: string) => void
  /** A message for people from the issuer of work. */
  readonly onNotice?: (message: string) => void
}

export interface Source {
  /** One line for people: network, account and address. */
  readonly description: string
  /** Expected length of work in bytes. */
  readonly workBytes: number
  /**
   * The vote of the highest work with a known vote, or null. Pools and leaders of fleets do not send the parents of
   * their work, which it depends on.
   */
  forkVote(): ForkVote | null
  /**
   * Yields the newest job, or null if there is nothing to search, until the signal aborts. A slow reader gets only the
   * newest job. Reports nothing after the end.
   * @throws NewcutError for permanent failures
   */
  jobs(signal: AbortSignal, events: SourceEvents): AsyncIterable<Job | null>
  /** Submits a solution. Never throws. */
  submit(solution: Solution): Promise<Receipt>
  /** Follows an acknowledged solution until its fate is settled or the signal aborts. Never throws. */
  follow(solution: Solution, signal: AbortSignal): AsyncIterable<FollowUp>
  /** Whether news of the current job's chain arrives. */
  readonly connected: boolean
  /** Why it gives no job on purpose, as the continuation of "waits", or null if it waits for none. */
  readonly waitReason: string | null
  /** A Unix time in microseconds that the validators' clock has certainly reached, or null if unknown. */
  validatorTime(): bigint | null
  /** Nodes or pools in order of priority; empty for a single node. */
  upstreams(): readonly UpstreamStatus[]
  /** Chains of the network in ascending order, empty until known. Null if the source never knows them. */
  chains(): readonly ChainStatus[] | null
}

/** Interface of a source whose chains can change while it mines. */
export interface ChainChoice {
  /** Mines these chains from now, or all of them if undefined. */
  setChains(chains: readonly number[] | undefined): void
}

/** The operator's choice of fork votes. `node` leaves the votes of the node unchanged. */
export const forkVoteChoices = ['node', 'yes', 'no'] as const
export type ForkVoteChoice = (typeof forkVoteChoices)[number]
