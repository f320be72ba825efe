/** Interface of an engine whose devices are the rigs of a fleet. This process leads them, or is a standby. */
import type { StepName } from '#ground/chain/solution.ts'

export interface Leader {
  /** Sets the callbacks into the miner. Call it before the start. */
  attach(callbacks: LeaderCallbacks): void
  /** Announces pending solutions of earlier runs, so that their copies in JetStream are not submitted again. */
  expect(hashes: readonly string[]): void
  /** Receives every step of a solution once the journal has it, and acknowledges the solution to JetStream. */
  recordStep(step: SolutionStep): void
  status(): FleetStatus
}

/** Callbacks into the leader's miner, and facts for its rigs. */
export interface LeaderCallbacks {
  readonly network: string
  /** Account that is paid. */
  readonly account: string
  /** Base64url block hashes of solutions that earlier runs left unfinished. */
  readonly unfinished: readonly string[]
  /** Time without an answer, or without requested work, from any node of this process in milliseconds; 0 if neither. */
  readonly silentMs: () => number
  /** Takes over solved work of a previous leader. */
  readonly adopt: (solution: AdoptedSolution) => void
  /** Called when this or another process becomes the leader. */
  readonly onLeader: (status: Pick<FleetStatus, 'isLeading' | 'leader'>) => void
}

/** Solved work of another process. */
export interface AdoptedSolution {
  readonly bytes: Uint8Array
  readonly issuer: string
  readonly device: string
}

/** A step in the life of a solution, as reported by the miner. */
export interface SolutionStep {
  /** Base64url block hash. */
  readonly hash: string
  readonly step: StepName
  /** Id of the job in the miner. */
  readonly job?: string
  readonly reason?: string
  readonly message?: string
}

export interface FleetStatus {
  /** Name of the fleet. */
  readonly fleet: string
  /** Whether this process leads; otherwise it is a standby. */
  readonly isLeading: boolean
  /** Where the leader runs, or null if unknown. */
  readonly leader: string | null
  /** Number of rigs that report to this leader. */
  readonly rigs: number
  /** Power and energy of the rigs that report them. */
  readonly energy: RigsEnergy
}

/** Sums over rigs. A rig without a complete reading is in none of the sums. */
export interface RigsEnergy {
  /** Null if no rig reports its power. */
  readonly watts: number | null
  /** Since the first report of each rig to this leader; null if none was reported. */
  readonly joules: number | null
  /** Hashes per second of the rigs whose power is in `watts`; null if one is unknown. */
  readonly hashrate: number | null
  /** Number of searching rigs without a complete reading. */
  readonly unread: number
}
