/** Port 2: who searches. The miner knows engines only through this file. */

import type { FixedNonce } from '../core/nonce.ts'

/** Numbered work: `sequence` grows with every change, so that late claims can be told from present ones. */
export interface EngineWork {
  readonly sequence: number
  /** Identity of the job: works of the same job differ in their creation time alone. */
  readonly job: string
  /** Work bytes; the last 8, the nonce, are the engine's to choose. null: nothing to search. */
  readonly bytes: Uint8Array | null
  /** A nonce whose hash, read as a little-endian integer, is <= this is a candidate; often the target in the work. */
  readonly target: bigint
  readonly fixedNonce: FixedNonce
}

/** A claim that a nonce solves the work of a sequence. The miner re-hashes it before it counts for anything. */
export interface Candidate {
  readonly sequence: number
  readonly nonce: bigint
  readonly device: string
}

/** One searcher within an engine and what it has done since the start. */
export interface DeviceStatus {
  readonly device: string
  /** What runs there, e.g. `wasm`. */
  readonly kernel: string
  /** Why it is no better one. */
  readonly note?: string
  readonly hashes: number
  /** How often the device itself failed: a kernel that was wrong, a thread or process that died. */
  readonly faults: number
  /** Set while the device does not search: `restarting` after a failure, `parked` once it has failed too often. */
  readonly state?: 'restarting' | 'parked'
}

export interface EngineEvents {
  readonly onCandidate: (candidate: Candidate) => void
  /** Something the user should hear about while mining goes on. */
  readonly onWarning: (message: string) => void
}

export interface Engine {
  /** `cpu`, `gpu`, ... */
  readonly name: string
  /** Gets ready to search work of this many bytes. Throws NewcutError KERNEL_REFUSED when nothing here can search. */
  start(workBytes: number, events: EngineEvents): Promise<void>
  /**
   * Replaces the present work. Resolves with true once every device searches it, with false when newer work came first.
   */
  setWork(work: EngineWork): Promise<boolean>
  /** Hashes of all devices since the start, those that are gone included. */
  hashes(): number
  devices(): readonly DeviceStatus[]
  /** Stops searching. Nothing is reported afterwards. */
  stop(): Promise<void>
}
