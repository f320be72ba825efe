/** Shares of a rig of a pool: submits them to the pool, and answers the rig. */
import { failureLine, type MessageId, refusalLine, resultLine, type ShareVerdict } from '../../stratum/messages.ts'
import { type ByteOrder, composeNonce, nonce2Text, readNonce1 } from '../../stratum/nonces.ts'
import type { RigPoolSession } from '../../stratum/passthrough.ts'
import { type Refusal, type RequestRefusal, shareFault } from '../../stratum/refusals.ts'
import type { Rig, Share } from '../stratum/share.ts'
import { RecentJobs } from './recent-jobs.ts'

/** A user of a rig's connection, and its worker name at the pool. */
export interface ProxyUser {
  readonly rig: Rig
  readonly worker: string | null
}

/** State of the session when a share arrives. */
export interface ProxyShareContext {
  /** The user that it counts for, or null if none is authorized. */
  readonly known: ProxyUser | null
  readonly isSubscribed: boolean
  /** The pool session whose jobs the rig has, or null without one. */
  readonly line: RigPoolSession | null
  readonly order: ByteOrder
}

interface SharePorts {
  readonly nowMs: () => number
  /** Whether the worker of this key is banned at the address of the rig. */
  readonly isBanned: (worker: string) => boolean
  readonly onShare: (share: Share) => void
  readonly onRefused: (reason: RequestRefusal) => void
  readonly say: (text: string) => void
}

/** A share to submit to the pool. */
interface PoolShare {
  readonly known: ProxyUser
  readonly line: RigPoolSession
  readonly job: string
  readonly nonce2: string
}

type Rejection = Exclude<ShareVerdict, 'accepted'>

/** A nonce has eight bytes. */
const MAX_NONCE2_BYTES = 8
const HEX = /^[0-9a-f]+$/i

export class SubmittedShares {
  /** The jobs that the rig received. */
  readonly jobs = new RecentJobs()
  readonly #ports: SharePorts

  constructor(ports: SharePorts) {
    this.#ports = ports
  }

  /** Handles a share. Obviously wrong shares are not submitted. */
  submit(id: MessageId, params: readonly unknown[], context: ProxyShareContext): void {
    const { known } = context
    const { isBanned, onShare, onRefused, say } = this.#ports
    if (known !== null && isBanned(known.rig.worker.key)) {
      onShare({ verdict: 'unauthorized', rig: known.rig, hashes: 0 })
      onRefused('banned')
      if (id !== null) say(failureLine(id, 'banned'))
      return
    }
    const share = this.#shareOf(params, context)
    const digits = 2 * (context.line?.nonce2Bytes ?? MAX_NONCE2_BYTES)
    if (share === 'malformed') this.deny(id, known, shareFault(params, digits))
    else if (typeof share === 'string') this.judge(id, known, share)
    else void this.#submitToPool(id, share)
  }

  /** Refuses a share that cannot be parsed. */
  deny(id: MessageId, known: ProxyUser | null, { reason, failure, text }: Refusal): void {
    this.#ports.onRefused(reason)
    this.#ports.onShare({ verdict: 'malformed', rig: known?.rig ?? null, hashes: 0 })
    if (id !== null) this.#ports.say(failureLine(id, failure, text ?? undefined))
  }

  judge(id: MessageId, known: ProxyUser | null, verdict: Rejection): void {
    this.#ports.onShare({ verdict, rig: known?.rig ?? null, hashes: 0 })
    if (id !== null) this.#ports.say(failureLine(id, verdict))
  }

  /**
   * Parses a share. Ignores parameters after the first three: some rigs add the chain.
   * @returns the share to submit, or why it is refused
   */
  #shareOf([, name, text]: readonly unknown[], context: ProxyShareContext): PoolShare | Rejection {
    const { known, line, order } = context
    if (!context.isSubscribed) return 'unsubscribed'
    if (known === null) return 'unauthorized'
    const isNamed = typeof name === 'string' || typeof name === 'number' || typeof name === 'bigint'
    const digits = 2 * (line?.nonce2Bytes ?? MAX_NONCE2_BYTES)
    if (!isNamed || typeof text !== 'string' || !HEX.test(text) || text.length > digits) return 'malformed'
    const id = String(name)
    const job = line?.jobOf(id) ?? null
    if (line === null || job === null) return 'stale'
    if (this.jobs.isFormer(line, { id, job, nonce2: text }, { order, nowMs: this.#ports.nowMs() })) return 'stale'
    return { known, line, job: id, nonce2: nonce2For(line, text, order) }
  }

  async #submitToPool(id: MessageId, { known: { rig, worker }, line, job, nonce2 }: PoolShare): Promise<void> {
    const { verdict, hashes, said } = await line.submit(line.userOf(worker), job, nonce2)
    // The verdict of the pool counts, whether or not the rig is still connected.
    this.#ports.onShare({ verdict, rig, hashes })
    if (id === null) return
    if (said === null) this.#ports.say(failureLine(id, 'stale'))
    else
      this.#ports.say(said.error === null ? resultLine(id, acceptableResult(said.result)) : refusalLine(id, said.error))
  }
}

/** nonce2 in the byte order of the pool. */
function nonce2For({ nonce1, nonce2Bytes }: RigPoolSession, text: string, order: ByteOrder): string {
  if (order === 'usual') return text
  const fixed = readNonce1(nonce1, nonce2Bytes)
  return nonce2Text(composeNonce(text, fixed, order), fixed)
}

/** Reduces a result to one that rigs accept as the answer to a share. */
function acceptableResult(result: unknown): unknown {
  return result === null || typeof result === 'boolean' || result === 'ok' ? result : true
}
