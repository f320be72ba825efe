/** Port 1: where work comes from and where solutions go. The miner knows sources only through this file. */

import type { FixedNonce, HeaderClass } from '../core/nonce.ts'
import type { FollowUp, Receipt } from '../core/solution.ts'
import type { Work } from '../core/work.ts'

/**
 * Why there is a new job. `newCut`: the chain of the job before moved on, so that job is lost (preempted). `solved`: the
 * job before was solved. `refreshed`: the same parents with other transactions or another target. `reconnected`: a chain
 * moved on while nobody heard of it. `better`: a hash is worth more on another chain. `switched`: another node gives work
 * now. `chosen`: other chains are to be mined now, or the pool gave work of another one.
 */
export const jobReasons = [
  ...(['start', 'newCut', 'solved', 'refreshed'] as const),
  ...(['reconnected', 'better', 'switched', 'chosen'] as const),
]
export type JobReason = (typeof jobReasons)[number]

/** Nodes forget the payload of work after 5 minutes (PROTOCOL.md A.1): handing in older work is of no use. */
export const WORK_LIFE_MS = 300_000

/** What work votes on: the next fork of its chain, and whether it votes for it. */
export interface ForkVote {
  readonly fork: number
  readonly isFor: boolean
}

/** Work with an identity: the same job with a newer creation time is the same job. */
export interface Job {
  /** Unique within the source. */
  readonly id: string
  /** Who gave it, and takes its solutions: the address of a node or pool. */
  readonly issuer: string
  readonly work: Work
  /** A nonce whose hash is <= this is handed in: the target in the work, or an easier one for shares. */
  readonly target: bigint
  /** Which bits of the nonce are not the searcher's to choose. */
  readonly fixedNonce: FixedNonce
  /** Headers that belong to the rigs of this miner with all their nonces; as in EngineWork. */
  readonly headers?: HeaderClass | null | undefined
  /** Whether every solution counts, as for shares; otherwise the first one ends the job. */
  readonly manySolutions: boolean
  readonly reason: JobReason
  /** When the reason was noticed, on the clock that never jumps. */
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

/** How a node, a pool or the server of a fleet is. */
export interface UpstreamStatus {
  /** Its address, without user and password. */
  readonly url: string
  /** Whether it answers. */
  readonly up: boolean
  /** Whether it gives the work that is searched. */
  readonly active: boolean
  /** Mean over the chains of how many blocks it lacks that a heavier node had a second earlier; null: not known. */
  readonly lag: number | null
  /** Time until its last answer; null: it does not answer. */
  readonly latencyMs: number | null
  /** Sum of the heights of its chains; null: not known. */
  readonly height: number | null
  /** Of its software; null: not known. */
  readonly version: string | null
  /** Why no work is taken from it, as in "does not answer"; null: nothing speaks against it. */
  readonly problem: string | null
}

/** A chain of the network, as last heard of. */
export interface ChainStatus {
  readonly chain: number
  /** Of its head. */
  readonly height: number
  /** Hashes that the block at its head took on average; null: not known. */
  readonly difficulty: number | null
  /** A chain that has to move on before this one can have a next block; null: it can be mined. */
  readonly waitsFor: number | null
  /** Chains whose blocks its next block refers to, ascending. */
  readonly adjacents: readonly number[]
  /** Whether it is among the chains to mine. */
  readonly isWanted: boolean
}

export interface SourceEvents {
  /** Something went wrong that is being retried. Said once for an outage, however many attempts it takes. */
  readonly onTrouble: (message: string) => void
  /** The outage is over. */
  readonly onRecovered: (message: string) => void
  /** What whoever gives the work wants people to read. */
  readonly onNotice?: (message: string) => void
}

export interface Source {
  /** One line for people: what is mined, and where. */
  readonly description: string
  /** Length of the work to expect, in bytes. */
  readonly workBytes: number
  /**
   * What the highest work so far votes of which it is known; null: of none. Pools and the leaders of fleets do not tell
   * the parents of their work, by which it is known.
   */
  forkVote(): ForkVote | null
  /**
   * The newest job, over and over, until the signal aborts; null: nothing to search for now. A slow reader gets the
   * newest job only. Throws NewcutError for failures that retrying cannot cure. Nothing is reported after the end.
   */
  jobs(signal: AbortSignal, events: SourceEvents): AsyncIterable<Job | null>
  /** Hands in a solution. Never throws. */
  handIn(solution: Solution): Promise<Receipt>
  /** Follows a solution that was acknowledged. Ends when there is no more to say, or the signal aborts. Never throws. */
  follow(solution: Solution, signal: AbortSignal): AsyncIterable<FollowUp>
  /** Whether news of the current job's chain gets through. */
  readonly connected: boolean
  /** A time (microseconds) that the validating clock has surely reached; null when it is not known. */
  validatorTime(): bigint | null
  /** The nodes or pools behind a source that tells how they are, in order of priority; empty for one node. */
  upstreams(): readonly UpstreamStatus[]
  /** The chains of the network, ascending, empty while nothing is known of them; null: it never knows them. */
  chains(): readonly ChainStatus[] | null
}
