/** Port 2: who searches. The miner knows engines only through this file. */

import { type FixedNonce, FREE_NONCE, type HeaderClass, NO_NONCE } from '../core/nonce.ts'

/** Numbered work: `sequence` grows with every change, so that claims for older work are recognised. */
export interface EngineWork {
  readonly sequence: number
  /**
   * Identity of the work: works of one job differ only in their creation time. An engine for which a restart is costly
   * may go on with the older work; its candidates carry the older sequence.
   */
  readonly job: string
  /** Who gave the work, and takes its solutions; undefined: nobody, as for a trial. */
  readonly issuer?: string
  /** Why it is searched, in the words of a source (JobReason); undefined: as before. */
  readonly reason?: string
  /** Work bytes; the last 8 are the nonce, whose free bits are the engine's to choose. null: nothing to search. */
  readonly bytes: Uint8Array | null
  /** A nonce whose hash, read as a little-endian integer, is <= this is a candidate; often the target in the work. */
  readonly target: bigint
  readonly fixedNonce: FixedNonce
  /**
   * Headers that belong to the rigs of this machine, with all their nonces, whatever `fixedNonce` says: that is for its
   * other devices. null: rigs get such headers, and have none yet; undefined: rigs share the headers with all others.
   */
  readonly headers?: HeaderClass | null | undefined
}

/** Work as devices of this machine may search it; nothing while all nonces that are left belong to rigs. */
export function ofDevices(work: EngineWork): EngineWork {
  return work.fixedNonce.bits === NO_NONCE.bits ? noWork(work.sequence) : work
}

/** What engines are given while there is nothing to search. */
export function noWork(sequence: number): EngineWork {
  return { sequence, job: '', bytes: null, target: 0n, fixedNonce: FREE_NONCE }
}

/** A claim that a nonce solves the work of a sequence. The miner re-hashes it before it counts for anything. */
export interface Candidate {
  readonly sequence: number
  readonly nonce: bigint
  readonly device: string
  /** Creation time of the work that was searched, in microseconds, where it is not that of the sequence. */
  readonly creationTime?: bigint | undefined
  /** Hashes of the engine between finding the nonce and this claim; undefined: it cannot tell. */
  readonly hashesSince?: number | undefined
}

/** One searcher within an engine and what it has done since the start. */
export interface DeviceStatus {
  readonly device: string
  /** What runs there, e.g. `wasm`. */
  readonly kernel: string
  /** The part of the machine that it shares with other devices, as threads share `cpu`; undefined: it has its own. */
  readonly hardware?: string
  /** Name of the card as its driver tells it; undefined: not a card, or not known yet. */
  readonly model?: string
  /** Who made the card, in lower case, such as `nvidia`; set together with `model`. */
  readonly vendor?: string
  /** Why no faster kernel is used. */
  readonly note?: string
  readonly hashes: number
  /** How often the device itself failed: a kernel that was wrong, a thread or process that died. */
  readonly faults: number
  /** Claims that did not solve, and that this miner was not given to judge; undefined: it judges them all. */
  readonly hardwareErrors?: number
  /**
   * Set while the device does not search: `restarting` after a failure, `parked` once it has failed too often, `unable`
   * while it cannot search the current work.
   */
  readonly state?: 'restarting' | 'parked' | 'unable'
  /** Why it does not search, as a sentence; set together with `state`. */
  readonly reason?: string
}

export interface EngineEvents {
  readonly onCandidate: (candidate: Candidate) => void
  /** A problem that the user should know about; mining goes on. */
  readonly onWarning: (message: string) => void
}

export interface Engine {
  /** `cpu`, `gpu`, ... */
  readonly name: string
  /**
   * Gets ready to search work of this many bytes. Throws NewcutError KERNEL_REFUSED when nothing here can search. When
   * stop() is called meanwhile it ends soon, with or without an error.
   */
  start(workBytes: number, events: EngineEvents): Promise<void>
  /**
   * Replaces the current work. Resolves with true once nearly all devices that are up search it (uptake.ts), with false
   * when newer work or the stop came first. Without work it resolves with true once nearly all of them search nothing and
   * have reported what they found. For work that the engine cannot search it warns once and searches nothing;
   * that is never an error.
   */
  setWork(work: EngineWork): Promise<boolean>
  /**
   * Hashes since the start, including devices that are gone. Never falls. Counted before their candidate is reported.
   */
  hashes(): number
  /**
   * All current devices; after the stop, those that it had. The time it takes grows with their number, so it is meant for
   * snapshots.
   */
  devices(): readonly DeviceStatus[]
  /** Stops searching. Nothing is reported afterwards. */
  stop(): Promise<void>
}
