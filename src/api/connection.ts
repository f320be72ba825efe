/** What monitors show of the connection to the node, and the snapshot does not have. */
import type { Clock } from '../core/clock.ts'
import type { MinerEvent, SolutionEvent } from '../mine/events.ts'

/** The answers whose median time is told. */
const MAX_ANSWERS = 100
/** Solutions without an answer; the oldest are forgotten. */
const MAX_PENDING = 1000

export class Connection {
  readonly #clock: Clock
  /** Block hash -> when it was handed in, counted from when it was found. */
  readonly #handedInMs = new Map<string, number>()
  readonly #answersMs: number[] = []
  #failures = 0
  #connectedAtMs: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
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

  #take({ step, hash, elapsedMs }: SolutionEvent): void {
    if (step === 'handed-in') {
      this.#handedInMs.set(hash, elapsedMs)
      const [oldest] = this.#handedInMs.keys()
      if (this.#handedInMs.size > MAX_PENDING) this.#handedInMs.delete(oldest)
      return
    }
    const handedInMs = this.#handedInMs.get(hash)
    if (handedInMs === undefined) return
    this.#handedInMs.delete(hash)
    if (step !== 'acknowledged') return
    this.#answersMs.push(elapsedMs - handedInMs)
    if (this.#answersMs.length > MAX_ANSWERS) this.#answersMs.shift()
  }
}
