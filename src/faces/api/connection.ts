/** Connection figures for monitors that the snapshot lacks: outages, uptime, answer times. */
import type { Clock } from '#ground/base/clock.ts'
import type { MinerEvent, SolutionEvent } from '#mining/mine/events.ts'

/** Number of answers in the median answer time. */
const MAX_ANSWERS = 100
/** Limit of solutions without an answer; the oldest are evicted. */
const MAX_PENDING = 1000

export class Connection {
  readonly #clock: Clock
  /** Block hash -> time of submission, in milliseconds after it was found. */
  readonly #handedInMs = new Map<string, number>()
  readonly #answersMs: number[] = []
  #failures = 0
  #connectedAtMs: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Number of outages. */
  get failures(): number {
    return this.#failures
  }

  /** Milliseconds since the first work or since the last recovery; 0 before the first work. */
  get connectedMs(): number {
    return this.#connectedAtMs === null ? 0 : this.#clock.monotonicMs() - this.#connectedAtMs
  }

  /** Median answer time of the node for the newest solutions in milliseconds, or null without answers. */
  get answerMs(): number | null {
    const sorted = this.#answersMs.toSorted((a, b) => a - b)
    return sorted[Math.floor(sorted.length / 2)] ?? null
  }

  /** Receives every event of the miner. */
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
