/** What monitors show of solutions and of the connection, and the snapshot does not have. */
import { decodeBase64Url, readU256LE } from '../core/bytes.ts'
import type { Clock } from '../core/clock.ts'
import { powHash } from '../core/pow.ts'
import { difficultyOf } from '../core/target.ts'
import type { MinerEvent, SolutionEvent } from '../mine/events.ts'

const BEST = 10
/** The answers whose median time is told. */
const MAX_ANSWERS = 100
/** Solutions without a verdict; the oldest are forgotten. */
const MAX_PENDING = 1000

interface Pending {
  /** Hashes that a hash as low as this one takes on average. */
  readonly difficulty: number
  handedInMs: number
}

export class Results {
  readonly #clock: Clock
  readonly #pending = new Map<string, Pending>()
  readonly #answersMs: number[] = []
  #best: number[] = []
  #failures = 0
  #connectedAtMs: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Difficulties of the ten best accepted solutions, the best first; 0 where there are fewer. */
  get best(): readonly number[] {
    return [...this.#best, ...Array<number>(BEST - this.#best.length).fill(0)]
  }

  /** Outages so far. */
  get failures(): number {
    return this.#failures
  }

  /** Since the first work, or since the last outage was over; 0 before. */
  get connectedMs(): number {
    return this.#connectedAtMs === null ? 0 : this.#clock.monotonicMs() - this.#connectedAtMs
  }

  /** Median time that the node took to answer the newest solutions; null: it has answered none. */
  get answerMs(): number | null {
    const sorted = this.#answersMs.toSorted((a, b) => a - b)
    return sorted[Math.floor(sorted.length / 2)] ?? null
  }

  /** Takes every event of the miner. */
  onEvent(event: MinerEvent): void {
    switch (event.type) {
      case 'work':
        this.#connectedAtMs ??= this.#clock.monotonicMs()
        return
      case 'trouble':
        this.#failures++
        return
      case 'recovered':
        this.#connectedAtMs = this.#clock.monotonicMs()
        return
      case 'solution':
        this.#take(event)
    }
  }

  #take(event: SolutionEvent): void {
    const { hash, elapsedMs } = event
    if (event.step === 'found') this.#expect(hash, event.work)
    const pending = this.#pending.get(hash)
    if (pending === undefined) return
    if (event.step === 'handed-in') pending.handedInMs = elapsedMs
    if (event.step === 'acknowledged') {
      this.#answersMs.push(elapsedMs - pending.handedInMs)
      if (this.#answersMs.length > MAX_ANSWERS) this.#answersMs.shift()
    }
    if (event.verdict === null) return
    // What is unconfirmed may be accepted yet.
    if (event.verdict !== 'unconfirmed') this.#pending.delete(hash)
    if (event.verdict !== 'accepted') return
    this.#best = [...this.#best, pending.difficulty].sort((a, b) => b - a).slice(0, BEST)
  }

  #expect(hash: string, work: string): void {
    const found = readU256LE(powHash(decodeBase64Url(work)), 0)
    this.#pending.set(hash, { difficulty: Number(difficultyOf(found) ?? 0n), handedInMs: 0 })
    const [oldest] = this.#pending.keys()
    if (this.#pending.size > MAX_PENDING) this.#pending.delete(oldest)
  }
}
