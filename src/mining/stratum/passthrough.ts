/**
 * Port between rigs and their pools. Each rig has a pool session of its own: the pool's nonces, targets and
 * jobs reach the rig unchanged, and the rig's shares reach the pool unchanged.
 */
import type { Work } from '#ground/chain/work.ts'
import type { Response, ShareVerdict } from './messages.ts'

/** A job as the pool gave it. */
export interface RigPoolJob {
  /** Parameters of mining.notify. */
  readonly params: readonly unknown[]
  readonly work: Work
  /** Share target at the time of the job. */
  readonly target: bigint
}

/** The pool's answer to a share. */
export interface ForwardedAnswer {
  readonly verdict: ShareVerdict
  /** Average number of hashes per such share; 0 unless it was accepted. */
  readonly hashes: number
  /** The pool's own answer; null if there was none, in which case the share counts as stale. */
  readonly said: Pick<Response, 'result' | 'error'> | null
}

export interface RigPoolListener {
  readonly onJob: (job: RigPoolJob) => void
  readonly onTarget: (target: bigint) => void
  readonly onNonces: (nonce1: string, nonce2Bytes: number) => void
  /** A message of the pool for the rig's operator. */
  readonly onMessage: (text: string) => void
  /** Work now comes from another pool: a rig that supports it reconnects there and releases this session. */
  readonly onLeaving: () => void
  /** Called once, as the last event. */
  readonly onEnd: () => void
}

/** A pool session of one rig. It is logged in and has a job. */
export interface RigPoolSession {
  /** nonce1 as the pool wrote it. */
  readonly nonce1: string
  readonly nonce2Bytes: number
  /** Current share target: the latest from the pool, or else the block target. */
  readonly target: bigint
  /** The newest job, or null. */
  readonly job: RigPoolJob | null
  /**
   * Finds a job by its id as written by a rig.
   * @returns null if the session has no such job, or has dropped it
   */
  jobOf(id: string): RigPoolJob | null
  listen(listener: RigPoolListener): void
  /** The pool's user name for a worker; null stands for a rig without a name. */
  userOf(worker: string | null): string
  /**
   * Asks whether the pool accepts the user.
   * @returns null if the session has ended or the pool does not answer
   */
  authorize(user: string): Promise<boolean | null>
  /** Submits a share of one of this session's jobs. Never throws. */
  submit(user: string, id: string, nonce2: string): Promise<ForwardedAnswer>
}

/** A rig's right to a pool session. */
export interface RigSlot {
  /**
   * Requests a session with the pool whose work is searched. `onLine` is called at once if a spare session exists,
   * otherwise as soon as there is one.
   * @param agent program of the rig
   */
  request(agent: string, onLine: (line: RigPoolSession) => void): void
  /** Closes a session of the rig. */
  drop(line: RigPoolSession): void
  /** The rig has disconnected: closes all its sessions. */
  release(): void
}

/** Sessions with the pool whose work is searched. */
export interface RigPoolSessions {
  /** Maximum number of rigs. */
  readonly most: number
  /** Number of sessions that are open or opening. */
  readonly sessions: number
  /**
   * Starts to keep a spare session.
   * @param onTrouble called once per outage if no session can be opened
   */
  open(onTrouble: (message: string) => void): void
  /**
   * Reserves a seat for a new rig.
   * @returns null at the maximum number of rigs
   */
  seat(): RigSlot | null
  close(): void
}
