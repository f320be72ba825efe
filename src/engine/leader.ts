/** Port of an engine whose devices are the rigs of a fleet: this process leads them, or stands by. */
import type { StepName } from '../core/solution.ts'

export interface Leader {
  /** Ties it to the miner, before the start. */
  attach(ties: LeaderCallbacks): void
  /** These solutions of earlier runs live on: what JetStream still has of them is not taken once more. */
  expect(hashes: readonly string[]): void
  /** Takes every step in the life of a solution, once the journal has it: it acknowledges the solution to JetStream. */
  told(step: SolutionStep): void
  status(): FleetStatus
}

/** Callbacks of the leader into its miner, and what it tells its rigs. */
export interface LeaderCallbacks {
  readonly network: string
  /** Who is paid. */
  readonly account: string
  /** Hashes of the blocks that earlier runs left unfinished, as in JSON. */
  readonly unfinished: readonly string[]
  /** How long no node of this process answers, or gives work that was asked for; 0: neither. */
  readonly silentMs: () => number
  /** Takes solved work that the leader before was given for. */
  readonly adopt: (solution: AdoptedSolution) => void
  /** This process leads from now on, or another one does. */
  readonly onLeader: (status: Pick<FleetStatus, 'isLeading' | 'leader'>) => void
}

/** Solved work from elsewhere. */
export interface AdoptedSolution {
  readonly bytes: Uint8Array
  readonly issuer: string
  readonly device: string
}

/** A step in the life of a solution, as the miner tells it. */
export interface SolutionStep {
  /** Of its block, as in JSON. */
  readonly hash: string
  readonly step: StepName
  /** The job as the miner knows it. */
  readonly job?: string
  readonly reason?: string
  readonly message?: string
}

export interface FleetStatus {
  /** Its name. */
  readonly fleet: string
  /** Whether this process gives the rigs their work; otherwise it stands by. */
  readonly isLeading: boolean
  /** Where the leader runs; null: not known. */
  readonly leader: string | null
  /** Rigs that this leader hears of. */
  readonly rigs: number
}
