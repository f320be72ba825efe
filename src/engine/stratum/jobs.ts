/** The jobs that rigs search, and the hash of a share of one: a compression, since all before it is done once a job. */
import { finish, type Midstate, midstate } from '../../core/blake2s.ts'
import { encodeHex } from '../../core/bytes.ts'
import { withCreationTime, withNonce } from '../../core/header.ts'
import { targetWords } from '../../core/pow.ts'
import { difficultyOf } from '../../core/target.ts'
import { workFromBytes } from '../../core/work.ts'
import { requestLine } from '../../stratum/messages.ts'
import type { EngineWork } from '../engine.ts'

/** Work of other lengths has the nonce elsewhere, and rigs know no other. */
export const RIG_WORK_BYTES = 286
/** Jobs whose shares are judged. Those before are over. */
const MAX_JOBS = 512
const JOB_ID = /^[0-9a-f]{1,64}$/i

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
  readonly start: Midstate
}

export class Jobs {
  readonly #jobs = new Map<number, RigJob>()
  #next: number
  #work: EngineWork | null = null
  #current: RigJob | null = null
  /** Jobs with lower numbers are of work that is over. */
  #first: number
  /** How many jobs the present work has had. */
  #fresh = 0

  /** `random` is uniform in [0, 1): rigs may still hold jobs of an earlier server, whose numbers were others. */
  constructor(random: () => number) {
    this.#next = 1 + Math.floor(random() * 2 ** 24) * 2 ** 6
    this.#first = this.#next
  }

  /** What is searched; null: nothing. */
  get current(): RigJob | null {
    return this.#current
  }

  /** The number of the next job. */
  get next(): number {
    return this.#next
  }

  /** New work. Works of one job differ in their creation time alone, and none of them is over before the job is. */
  begin(work: EngineWork & { readonly bytes: Uint8Array }): RigJob {
    const isSame = this.#work !== null && this.#work.job === work.job && this.#work.target === work.target
    if (!isSame) this.#first = this.#next
    this.#work = work
    this.#fresh = 0
    return this.#add(work, work.bytes, undefined, !isSame)
  }

  /** The present work with a creation time a microsecond later, so that all its nonces are new; null: there is none. */
  fresh(): RigJob | null {
    const work = this.#work
    if (work?.bytes == null) return null
    const creationTime = workFromBytes(work.bytes).fields.creationTime + BigInt(++this.#fresh)
    return this.#add(work, withCreationTime(work.bytes, creationTime), creationTime, false)
  }

  /** There is nothing to search. */
  rest(): void {
    this.#work = null
    this.#current = null
    this.#first = this.#next
  }

  /**
   * The job of an id, as hex; null: it is over for so long that it is forgotten, or of another server, whose ids may be
   * longer. undefined: no id.
   */
  find(id: string): RigJob | null | undefined {
    if (!JOB_ID.test(id)) return undefined
    return this.#jobs.get(Number.parseInt(id, 16)) ?? null
  }

  isOver({ number }: RigJob): boolean {
    return number < this.#first
  }

  #add(work: EngineWork, bytes: Uint8Array, creationTime: bigint | undefined, clean: boolean): RigJob {
    const number = this.#next++
    const header = withNonce(bytes, 0n)
    const { sequence, target } = work
    const difficulty = Number(difficultyOf(target) ?? 0n)
    const job = {
      ...{ number, sequence, creationTime, target, difficulty },
      targetWords: targetWords(target),
      line: requestLine(null, 'mining.notify', [number.toString(16), encodeHex(header), clean]),
      start: midstate(header),
    }
    this.#jobs.set(number, job)
    this.#current = job
    const [oldest] = this.#jobs.keys()
    if (this.#jobs.size > MAX_JOBS) this.#jobs.delete(oldest)
    return job
  }
}

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
