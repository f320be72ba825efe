/** Port 2: who searches. The miner uses engines only through this interface. */

import { type FixedNonce, FREE_NONCE, type HeaderClass, NO_NONCE } from '#ground/chain/nonce.ts'

/** Numbered work. `sequence` grows with every change and identifies claims for older work. */
export interface EngineWork {
  readonly sequence: number
  /**
   * Id of the job. Works of one job differ only in their creation time. An engine with costly restarts may continue
   * with older work; its candidates carry the older sequence.
   */
  readonly job: string
  /** Issuer of the work, which takes its solutions; undefined for a trial. */
  readonly issuer?: string
  /** Why it is new, a JobReason of the source; undefined means unchanged. */
  readonly reason?: string
  /** Work bytes, or null if there is nothing to search. The last 8 are the nonce; the engine chooses its free bits. */
  readonly bytes: Uint8Array | null
  /** A nonce is a candidate if its hash, as a little-endian integer, is <= this. Often the target in the work. */
  readonly target: bigint
  readonly fixedNonce: FixedNonce
  /**
   * Headers that the rigs of this machine may search with all nonces, regardless of `fixedNonce`, which applies to its
   * other devices. Null if rigs get such headers but have none yet. Undefined if rigs share the headers of the devices.
   */
  readonly headers?: HeaderClass | null | undefined
}

/** The work for devices of this machine; no work if rigs have all remaining nonces. */
export function ofDevices(work: EngineWork): EngineWork {
  return work.fixedNonce.bits === NO_NONCE.bits ? noWork(work.sequence) : work
}

/** Work for when there is nothing to search. */
export function noWork(sequence: number): EngineWork {
  return { sequence, job: '', bytes: null, target: 0n, fixedNonce: FREE_NONCE }
}

/** A claim that a nonce solves the work of a sequence. The miner hashes it again before it counts. */
export interface Candidate {
  readonly sequence: number
  readonly nonce: bigint
  readonly device: string
  /** Creation time of the searched work in microseconds, if it differs from that of the sequence. */
  readonly creationTime?: bigint | undefined
  /** Hashes of the engine between finding the nonce and this claim; undefined if unknown. */
  readonly hashesSince?: number | undefined
}

/** A device of an engine, with its counters since the start. */
export interface DeviceStatus {
  readonly device: string
  /** Name of its kernel or program, such as `wasm`. */
  readonly kernel: string
  /** Hardware that it shares with other devices, as threads share `cpu`; undefined if it shares none. */
  readonly hardware?: string
  /** Name of the card from its driver; undefined if the device is not a card, or before the driver has named it. */
  readonly model?: string
  /** Vendor in lower case, such as `nvidia`; set together with `model`. */
  readonly vendor?: string
  /** Why no faster kernel is used. */
  readonly note?: string
  readonly hashes: number
  /** Failures of the device itself: wrong kernels, dead threads or processes. */
  readonly faults: number
  /** Wrong claims that the device detected itself; undefined if the miner checks them all. */
  readonly hardwareErrors?: number
  /**
   * Set while the device does not search: `restarting` after a failure, `parked` after too many failures, `unable` if
   * it cannot search the current work.
   */
  readonly state?: 'restarting' | 'parked' | 'unable'
  /** Why it does not search, as a sentence; set together with `state`. */
  readonly reason?: string
}

export interface EngineEvents {
  readonly onCandidate: (candidate: Candidate) => void
  /** A problem that the user should know about; mining continues. */
  readonly onWarning: (message: string) => void
}

export interface Engine {
  /** `cpu`, `gpu`, ... */
  readonly name: string
  /**
   * Prepares to search work of this length. If stop() is called meanwhile, it ends soon, with or without an error.
   * @throws NewcutError KERNEL_REFUSED if nothing can search
   */
  start(workBytes: number, events: EngineEvents): Promise<void>
  /**
   * Replaces the current work. For work that the engine cannot search, it warns once and searches nothing; that is
   * never an error.
   * @returns true once nearly all running devices search it (work-acknowledgement.ts). Without work, true once nearly all of them
   * have stopped and reported their candidates. False if newer work or the stop came first.
   */
  setWork(work: EngineWork): Promise<boolean>
  /**
   * Hashes since the start, including devices that are gone. Never decreases. Counted before their candidate is
   * reported.
   */
  hashes(): number
  /**
   * All current devices; after the stop, the last ones. Takes time in proportion to their number, so use it for
   * snapshots.
   */
  devices(): readonly DeviceStatus[]
  /** Stops searching. Nothing is reported afterwards. */
  stop(): Promise<void>
}
