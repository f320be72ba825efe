/**
 * The jobs of rigs, and the hash of a share: one compression, because everything before it is computed once per job.
 */
import { encodeHex, equalBytes } from '#ground/base/bytes.ts'
import { finish, type Midstate, midstate } from '#ground/chain/blake2s.ts'
import { type WorkFields, withCreationTime, withNonce } from '#ground/chain/header.ts'
import type { HeaderClass } from '#ground/chain/nonce.ts'
import { targetWords } from '#ground/chain/pow.ts'
import { difficultyOf } from '#ground/chain/target.ts'
import { workFromBytes } from '#ground/chain/work.ts'
import { requestLine } from '../../stratum/messages.ts'
import type { EngineWork } from '../engine.ts'
import { creationTimeOf, HeaderTimes, randomClass } from './header-times.ts'

/** Length of the only work that rigs support; other lengths have the nonce elsewhere. */
export const RIG_WORK_BYTES = 286
/** Maximum number of jobs whose shares are judged. Older ones are evicted. */
const MAX_JOBS = 1024
/** Nodes forget the payload of work after 5 minutes (PROTOCOL.md A.1), so a block of older work is useless. */
const LIFE_MS = 300_000
/** Reasons of new work (JobReason) that make the previous work useless: its chain advanced, or a rig solved it. */
const ENDING_REASONS: ReadonlySet<string | undefined> = new Set(['newCut', 'solved'])
const JOB_ID = /^[0-9a-f]{1,64}$/i

/** One search under several creation times: its jobs end together. */
interface JobGroup {
  readonly fields: WorkFields
  /** Monotonic time from which its shares are stale; infinite while it is current. */
  endsAtMs: number
}

export interface RigJob {
  /** Grows with every job. */
  readonly number: number
  /** Sequence of its work. */
  readonly sequence: number
  /** Microseconds; set if it differs from that of the work. */
  readonly creationTime: bigint | undefined
  readonly target: bigint
  /** The same as words, to compare hashes with. */
  readonly targetWords: Uint32Array
  /** Mean number of hashes per block. */
  readonly difficulty: number
  /** mining.notify, the same for all rigs. */
  readonly line: string
  /** Work with the nonce 0. */
  readonly header: Uint8Array
  readonly start: Midstate
  readonly group: JobGroup
}

/**
 * Several jobs are valid at once, also on several chains (PROTOCOL.md F). Neither a block of another chain makes work
 * stale (A.6), nor other transactions on the same parents. Shares of a job become stale
 *
 * - when newer work has the reason `newCut` or `solved`, or there is no work. This ends the previous search, and
 *   every search on its chain up to its height.
 * - when there is work on its chain, at its height or higher, with another parent, whatever the reason. A neighbour
 *   that advances by one block makes no work stale, and it cannot advance by two.
 * - five minutes after other work replaced it.
 */
export class Jobs {
  readonly #jobs = new Map<number, RigJob>()
  /** Searches of these jobs that have not ended. */
  readonly #open = new Set<JobGroup>()
  readonly #nowMs: () => number
  readonly #headers: () => HeaderClass
  /** The result of `#headers`, or null before the first call. */
  #class: HeaderClass | null = null
  readonly #times = new HeaderTimes()
  readonly #first: number
  #next: number
  #work: EngineWork | null = null
  #group: JobGroup | null = null
  /** The work before there was none, or null. */
  #former: SearchedWork | null = null
  #current: RigJob | null = null
  #latest: RigJob | null = null

  /**
   * @param random uniform in [0, 1), for the first job number: rigs may still have jobs of an earlier server
   * @param nowMs monotonic clock
   * @param headers creation times for headers of work without a class of its own, called at the first such work.
   * Default: a random class.
   */
  constructor(random: () => number, nowMs: () => number, headers: () => HeaderClass = () => randomClass(random)) {
    this.#headers = headers
    this.#first = 1 + Math.floor(random() * 2 ** 24) * 2 ** 6
    this.#next = this.#first
    this.#nowMs = nowMs
  }

  /** The current job, or null. */
  get current(): RigJob | null {
    return this.#current
  }

  /** The newest job, even without current work, or null before the first. */
  get latest(): RigJob | null {
    return this.#latest
  }

  /** Starts new work. Works of a job differ only in creation time and stay valid until the job ends. */
  begin(work: EngineWork & { readonly bytes: Uint8Array }): RigJob {
    const isSame = this.#work !== null && this.#work.job === work.job && this.#work.target === work.target
    const group = isSame && this.#group !== null ? this.#group : this.#startGroup(work)
    this.#group = group
    this.#work = work
    this.#former = null
    return this.#add({ work, group, bytes: work.bytes }, !isSame)
  }

  /**
   * Issues the current work with a later creation time, so that all its nonces are new. Without work, it reissues the
   * previous work, whose shares are stale, so that rigs get a line.
   * @returns null if there was no work yet
   */
  issueFresh(): RigJob | null {
    const [work, group] = [this.#work, this.#group]
    const searched = work?.bytes != null && group !== null ? { work, group, bytes: work.bytes } : this.#former
    return searched === null ? null : this.#add(searched, false)
  }

  /** Ends the current work without a new one. */
  endWork(): void {
    const [work, group] = [this.#work, this.#group]
    if (group !== null) this.#end(group.fields)
    if (work?.bytes != null && group !== null) this.#former = { work, group, bytes: work.bytes }
    this.#work = null
    this.#group = null
    this.#current = null
  }

  /** The job of an id. Null if it is evicted, or from another server, whose ids may be any texts. */
  find(id: string): RigJob | null {
    return (JOB_ID.test(id) ? this.#jobs.get(Number.parseInt(id, 16)) : undefined) ?? null
  }

  /** Whether a job had this id, evicted or not. */
  hadId(id: string): boolean {
    const number = JOB_ID.test(id) ? Number.parseInt(id, 16) : 0
    return number >= this.#first && number < this.#next
  }

  isOver({ group }: RigJob): boolean {
    return this.#nowMs() >= group.endsAtMs
  }

  /** Starts a search for other work than before. */
  #startGroup({ bytes, reason }: EngineWork & { readonly bytes: Uint8Array }): JobGroup {
    const { fields } = workFromBytes(bytes)
    const former = this.#group
    if (former !== null) {
      former.endsAtMs = this.#nowMs() + LIFE_MS
      if (ENDING_REASONS.has(reason)) this.#end(former.fields)
    }
    this.#end(fields, (other) => equalBytes(other.parent, fields.parent))
    const group = { fields, endsAtMs: Number.POSITIVE_INFINITY }
    this.#open.add(group)
    return group
  }

  /** Ends all searches on this chain up to this height, except spared ones. */
  #end({ chainId, height }: WorkFields, isSpared: (fields: WorkFields) => boolean = () => false): void {
    const nowMs = this.#nowMs()
    for (const group of this.#open) {
      const { fields } = group
      if (fields.chainId === chainId && fields.height <= height && !isSpared(fields))
        group.endsAtMs = Math.min(group.endsAtMs, nowMs)
      if (group.endsAtMs <= nowMs) this.#open.delete(group)
    }
  }

  #add({ work, group, bytes }: SearchedWork, clean: boolean): RigJob {
    const number = this.#next++
    const time = this.#times.next(bytes, work.headers ?? this.#ownClass())
    const creationTime = time === creationTimeOf(bytes) ? undefined : time
    const header = withNonce(withCreationTime(bytes, time), 0n)
    const { sequence, target } = work
    const difficulty = Number(difficultyOf(target) ?? 0n)
    const job = {
      number,
      sequence,
      creationTime,
      target,
      difficulty,
      group,
      targetWords: targetWords(target),
      line: requestLine(null, 'mining.notify', [number.toString(16), encodeHex(header), clean]),
      header,
      start: midstate(header),
    }
    this.#jobs.set(number, job)
    this.#latest = job
    if (this.#former === null) this.#current = job
    this.#forget()
    return job
  }

  /** Limits the number of jobs, whose numbers are consecutive, also within a search. */
  #forget(): void {
    const oldest = this.#next - 1 - MAX_JOBS
    const group = this.#jobs.get(oldest)?.group
    if (group === undefined) return
    this.#jobs.delete(oldest)
    if (this.#jobs.get(oldest + 1)?.group !== group) this.#open.delete(group)
  }

  #ownClass(): HeaderClass {
    this.#class ??= this.#headers()
    return this.#class
  }
}

/** Work and its search. */
interface SearchedWork {
  readonly work: EngineWork
  readonly group: JobGroup
  readonly bytes: Uint8Array
}

/** The hash of a job with a nonce, as eight words, the least significant first. */
export type ShareHash = (job: RigJob, nonce1: number, nonce2: number) => Uint32Array

const tail = new Uint32Array(16)

/**
 * The hash of a job with a nonce, as eight words, the least significant first. The nonce is in bytes 278 to 285. nonce1
 * (2 bytes) is the upper half of the sixth word of the last block. nonce2 (6 bytes) is the following word and a half.
 */
export function shareHash({ start }: RigJob, nonce1: number, nonce2: number): Uint32Array {
  tail.set(start.tail)
  tail[5] |= nonce1 << 16
  tail[6] = nonce2 % 2 ** 32
  tail[7] |= Math.floor(nonce2 / 2 ** 32)
  return finish(start, tail)
}

/** The whole nonce. */
export function nonceOfShare(nonce1: number, nonce2: number): bigint {
  return (BigInt(nonce2) << 16n) | BigInt(nonce1)
}
