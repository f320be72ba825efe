/**
 * The port between rigs and the pools behind them: each rig has a session with a pool for itself. What the pool says of
 * nonces, targets and work goes to the rig as it came, and shares go to the pool as the rig wrote them.
 */
import type { Work } from '../core/work.ts'
import type { Response, ShareVerdict } from './messages.ts'

/** A job as the pool gave it. */
export interface LineJob {
  /** Parameters of mining.notify. */
  readonly params: readonly unknown[]
  readonly work: Work
  /** Of shares, when the job came. */
  readonly target: bigint
}

/** The pool's answer to a share. */
export interface PassedAnswer {
  readonly verdict: ShareVerdict
  /** Hashes that the share takes on average; 0 unless it was accepted. */
  readonly hashes: number
  /** As the pool said it; null: it said nothing, and the share is stale. */
  readonly said: Pick<Response, 'result' | 'error'> | null
}

export interface LineListener {
  readonly onJob: (job: LineJob) => void
  readonly onTarget: (target: bigint) => void
  readonly onNonces: (nonce1: string, nonce2Bytes: number) => void
  /** What the pool wants whoever looks at the rig to read. */
  readonly onMessage: (text: string) => void
  /** Work comes from another pool now: a rig that can moves there, and gives this session back. */
  readonly onLeaving: () => void
  /** Once; nothing follows. */
  readonly onEnd: () => void
}

/** A session with a pool that belongs to one rig. It is logged in, and has a job. */
export interface PoolLine {
  /** nonce1 as the pool wrote it. */
  readonly nonce1: string
  readonly nonce2Bytes: number
  /** Of shares: what the pool said last, or the target of the block. */
  readonly target: bigint
  /** The newest; null: there was none. */
  readonly job: LineJob | null
  /** The job of an id as a rig writes it; null: this session has none, or has forgotten it. */
  jobOf(id: string): LineJob | null
  listen(listener: LineListener): void
  /** The user of a worker, as this pool knows it; null: a rig without a name. */
  userOf(worker: string | null): string
  /** Whether the pool takes the user; null: the session has ended, or there is no answer. */
  authorize(user: string): Promise<boolean | null>
  /** Hands in a share of a job that this session has. Never throws. */
  submit(user: string, id: string, nonce2: string): Promise<PassedAnswer>
}

/** A rig's right to a session. */
export interface Seat {
  /**
   * Asks for a session with the pool whose work is searched now. It is told at once where a spare one is there, and
   * otherwise as soon as there is one. `agent`: the program of the rig.
   */
  request(agent: string, onLine: (line: PoolLine) => void): void
  /** Closes a session of the rig. */
  drop(line: PoolLine): void
  /** The rig has left: closes all that it has. */
  release(): void
}

/** Sessions with the pool whose work is searched. */
export interface PoolLines {
  /** Most rigs. */
  readonly most: number
  /** Sessions that are open or being opened. */
  readonly sessions: number
  /** Keeps a spare session from now on. `onTrouble`: no session comes about; told once for an outage. */
  open(onTrouble: (message: string) => void): void
  /** For a rig that has come; null: there are as many as may be. */
  seat(): Seat | null
  /** Ends all sessions. */
  close(): void
}
