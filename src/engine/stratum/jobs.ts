/** The jobs that rigs search, and the hash of a share of one: a compression, since all before it is done once a job. */
import { finish, type Midstate, midstate } from '../../core/blake2s.ts'
import { encodeHex } from '../../core/bytes.ts'
import { sameParents, type WorkFields, withCreationTime, withNonce } from '../../core/header.ts'
import { targetWords } from '../../core/pow.ts'
import { difficultyOf } from '../../core/target.ts'
import { workFromBytes } from '../../core/work.ts'
import { requestLine } from '../../stratum/messages.ts'
import type { EngineWork } from '../engine.ts'

/** Work of other lengths has the nonce elsewhere, and rigs know no other. */
export const RIG_WORK_BYTES = 286
/** Jobs whose shares are judged. Those before are forgotten. */
const MAX_JOBS = 1024
/** Works whose newest creation time is known, so that none of their headers is handed out again. */
const MAX_WORKS = 64
/** Nodes forget the payload of work after 5 minutes (PROTOCOL.md A.1): a block of older work comes to nothing. */
const LIFE_MS = 300_000
/** Reasons of new work (JobReason) by which that before is of no use any more: its chain moved on, or a rig solved it. */
const ENDING_REASONS: ReadonlySet<string | undefined> = new Set(['newCut', 'solved'])
const JOB_ID = /^[0-9a-f]{1,64}$/i

/** What is searched, under whichever creation times: its jobs are over together. */
interface Pursuit {
  readonly fields: WorkFields
  /** From this time on its shares are stale; infinite while it is searched. */
  endsAtMs: number
}

export interface RigJob {
  /** Grows with every job. */
  readonly number: number
  /** Sequence of the work that it is for. */
  readonly sequence: number
  /** Microseconds: set where the work has another. */
  readonly creationTime: bigint | undefined
  readonly target: bigint
  /** The same, to compare hashes with. */
  readonly targetWords: Uint32Array
  /** Hashes that a block takes on average. */
  readonly difficulty: number
  /** mining.notify, the same for all rigs. */
  readonly line: string
  /** Work whose nonce is 0. */
  readonly header: Uint8Array
  readonly start: Midstate
  readonly pursuit: Pursuit
}

/**
 * Several jobs are alive at once, also of several chains (PROTOCOL.md F): a block of another chain makes no work stale
 * (A.6), nor do other transactions on the same parents. The shares of a job are stale
 *
 * - once newer work has the reason `newCut` or `solved`, or there is none to search: that is the end of what was searched
 *   last, and of whatever was searched on its chain up to its height;
 * - once there is work for its chain, as high or higher, on other parents, whatever the reason;
 * - five minutes after other work took its place.
 */
export class Jobs {
  readonly #jobs = new Map<number, RigJob>()
  readonly #nowMs: () => number
  readonly #first: number
  #next: number
  #work: EngineWork | null = null
  #pursuit: Pursuit | null = null
  /** What was searched until there was no work; null: there is some, or never was. */
  #former: Searched | null = null
  #current: RigJob | null = null
  #latest: RigJob | null = null
  /** Header without its creation time and nonce -> the newest creation time that was handed out. */
  readonly #newest = new Map<string, bigint>()

  /**
   * `random` is uniform in [0, 1): rigs may still hold jobs of an earlier server, whose numbers were others. `nowMs`: of a
   * clock that never jumps.
   */
  constructor(random: () => number, nowMs: () => number) {
    this.#first = 1 + Math.floor(random() * 2 ** 24) * 2 ** 6
    this.#next = this.#first
    this.#nowMs = nowMs
  }

  /** What is searched; null: nothing. */
  get current(): RigJob | null {
    return this.#current
  }

  /** The newest job, also while nothing is searched; null: there was none. */
  get latest(): RigJob | null {
    return this.#latest
  }

  /** New work. Works of one job differ in their creation time alone, and none of them is over before the job is. */
  begin(work: EngineWork & { readonly bytes: Uint8Array }): RigJob {
    const isSame = this.#work !== null && this.#work.job === work.job && this.#work.target === work.target
    const pursuit = isSame && this.#pursuit !== null ? this.#pursuit : this.#pursue(work)
    this.#pursuit = pursuit
    this.#work = work
    this.#former = null
    return this.#add({ work, pursuit, bytes: work.bytes }, !isSame)
  }

  /**
   * The present work with a creation time a microsecond later, so that all its nonces are new. While there is no work: the
   * one before, whose shares are stale, so that rigs are not left without a line. null: there was none.
   */
  fresh(): RigJob | null {
    const [work, pursuit] = [this.#work, this.#pursuit]
    const searched = work?.bytes != null && pursuit !== null ? { work, pursuit, bytes: work.bytes } : this.#former
    return searched === null ? null : this.#add(searched, false)
  }

  /** There is nothing to search. */
  rest(): void {
    const [work, pursuit] = [this.#work, this.#pursuit]
    if (pursuit !== null) this.#end(pursuit.fields)
    if (work?.bytes != null && pursuit !== null) this.#former = { work, pursuit, bytes: work.bytes }
    this.#work = null
    this.#pursuit = null
    this.#current = null
  }

  /** The job of an id; null: it is over for so long that it is forgotten, or of another server, whose ids are any texts. */
  find(id: string): RigJob | null {
    return (JOB_ID.test(id) ? this.#jobs.get(Number.parseInt(id, 16)) : undefined) ?? null
  }

  /** Whether a job had this id, be it forgotten or not. */
  hadId(id: string): boolean {
    const number = JOB_ID.test(id) ? Number.parseInt(id, 16) : 0
    return number >= this.#first && number < this.#next
  }

  isOver({ pursuit }: RigJob): boolean {
    return this.#nowMs() >= pursuit.endsAtMs
  }

  /** Other work than before. */
  #pursue({ bytes, reason }: EngineWork & { readonly bytes: Uint8Array }): Pursuit {
    const { fields } = workFromBytes(bytes)
    const former = this.#pursuit
    if (former !== null) {
      former.endsAtMs = this.#nowMs() + LIFE_MS
      if (ENDING_REASONS.has(reason)) this.#end(former.fields)
    }
    this.#end(fields, (other) => sameParents(other, fields))
    return { fields, endsAtMs: Number.POSITIVE_INFINITY }
  }

  /** Ends what was searched on this chain up to this height, but for what is spared. */
  #end({ chainId, height }: WorkFields, isSpared: (fields: WorkFields) => boolean = () => false): void {
    const nowMs = this.#nowMs()
    for (const { pursuit } of this.#jobs.values()) {
      const { fields } = pursuit
      if (fields.chainId !== chainId || fields.height > height || isSpared(fields)) continue
      pursuit.endsAtMs = Math.min(pursuit.endsAtMs, nowMs)
    }
  }

  #add({ work, pursuit, bytes }: Searched, clean: boolean): RigJob {
    const number = this.#next++
    const creationTime = this.#unused(bytes)
    const header = withNonce(creationTime === undefined ? bytes : withCreationTime(bytes, creationTime), 0n)
    const { sequence, target } = work
    const difficulty = Number(difficultyOf(target) ?? 0n)
    const job = {
      ...{ number, sequence, creationTime, target, difficulty, pursuit },
      targetWords: targetWords(target),
      line: requestLine(null, 'mining.notify', [number.toString(16), encodeHex(header), clean]),
      header,
      start: midstate(header),
    }
    this.#jobs.set(number, job)
    this.#latest = job
    if (this.#former === null) this.#current = job
    const [oldest] = this.#jobs.keys()
    if (this.#jobs.size > MAX_JOBS) this.#jobs.delete(oldest)
    return job
  }

  /** A creation time that no header of this work has had; undefined: the one it has. */
  #unused(bytes: Uint8Array): bigint | undefined {
    const own = workFromBytes(bytes).fields.creationTime
    const key = encodeHex(withNonce(withCreationTime(bytes, 0n), 0n))
    const newest = this.#newest.get(key)
    const time = newest === undefined || newest < own ? own : newest + 1n
    this.#newest.delete(key)
    this.#newest.set(key, time)
    const [oldest] = this.#newest.keys()
    if (this.#newest.size > MAX_WORKS) this.#newest.delete(oldest)
    return time === own ? undefined : time
  }
}

/** Work and what it belongs to. */
interface Searched {
  readonly work: EngineWork
  readonly pursuit: Pursuit
  readonly bytes: Uint8Array
}

/** Hash of a job with a nonce, as eight words, the first one lowest. */
export type ShareHash = (job: RigJob, nonce1: number, nonce2: number) => Uint32Array

const tail = new Uint32Array(16)

/**
 * The hash of a job with a nonce, as eight words, the first one lowest. The nonce has bytes 278 to 285: nonce1, of two
 * bytes, the upper half of the sixth word of the last block; nonce2, of six, the word and a half behind it.
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
