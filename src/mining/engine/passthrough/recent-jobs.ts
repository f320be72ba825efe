/**
 * Jobs of a rig's current and previous pool session. Both may have jobs of the same id, because most pools number jobs
 * for all clients.
 */
import { withNonce } from '#ground/chain/header.ts'
import { meets, powHash } from '#ground/chain/pow.ts'
import { type ByteOrder, composeNonce, readNonce1 } from '../../stratum/nonces.ts'
import type { RigPoolJob, RigPoolSession } from '../../stratum/passthrough.ts'

/** Shares of the previous session may arrive within this time. */
const OVERLAP_MS = 10_000
/** Maximum number of remembered jobs: only those of the last seconds matter. */
const MAX_JOBS = 64

export class RecentJobs {
  #current: string[] = []
  #former: ReadonlySet<string> = new Set()
  #untilMs = 0

  /** Adds a job that the rig received. */
  add({ params: [id] }: RigPoolJob): void {
    this.#current = [...this.#current, String(id)].slice(-MAX_JOBS)
  }

  /** Ends the session. */
  endSession(nowMs: number): void {
    this.#former = new Set(this.#current)
    this.#current = []
    this.#untilMs = nowMs + OVERLAP_MS
  }

  /**
   * Whether a share belongs to the previous session: it does not meet the target with the nonce1 of the current one.
   */
  isFormer(
    line: RigPoolSession,
    share: { readonly id: string; readonly job: RigPoolJob; readonly nonce2: string },
    { order, nowMs }: { readonly order: ByteOrder; readonly nowMs: number },
  ): boolean {
    const { id, job, nonce2 } = share
    if (nowMs > this.#untilMs || !this.#former.has(id)) return false
    const nonce = composeNonce(nonce2, readNonce1(line.nonce1, line.nonce2Bytes), order)
    const easier = job.target > line.target ? job.target : line.target
    return !meets(powHash(withNonce(job.work.bytes, nonce)), easier)
  }
}
