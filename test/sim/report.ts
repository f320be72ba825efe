/** The report of a simulation: the trace of all events, the violations, and the largest values. */
import { createHash } from 'node:crypto'
import type { VirtualTime } from './virtual-time.ts'

/** Lines are hashed in batches of this size. */
const MAX_LINES_CHARACTERS = 64 * 1024

/** A broken invariant. */
export interface Violation {
  readonly invariant: string
  readonly atMs: number
  readonly detail: string
}

/** Largest values of a run, used to set bounds. */
export interface Extremes {
  /** Time from the end of all faults until the engines had useful work again. */
  recoveryMs: number
  /** The longest time without useful work after that. */
  gapMs: number
  /** The longest gap while one of several nodes was well. */
  switchMs: number
  /** Time from the end of all faults until work came from the first of several nodes. */
  failbackMs: number
  deadWorkMs: number
  verdictMs: number
  /** Time from when a provisional verdict could become final until it did. */
  settledMs: number
  timers: number
  connections: number
  undecided: number
  unreadBytes: number
  /** Simultaneously open files of the journal. */
  openFiles: number
}

export class Report {
  readonly violations: Violation[] = []
  readonly extremes: Extremes = {
    recoveryMs: 0,
    gapMs: 0,
    switchMs: 0,
    failbackMs: 0,
    deadWorkMs: 0,
    verdictMs: 0,
    settledMs: 0,
    timers: 0,
    connections: 0,
    undecided: 0,
    unreadBytes: 0,
    openFiles: 0,
  }
  readonly #time: VirtualTime
  readonly #onTrace: ((line: string) => void) | undefined
  readonly #hash = createHash('sha256')
  /** Lines that are not in the hash yet. */
  #lines = ''

  constructor(time: VirtualTime, onTrace: ((line: string) => void) | undefined) {
    this.#time = time
    this.#onTrace = onTrace
  }

  trace(what: string): void {
    const line = `${this.#time.nowMs.toFixed(3).padStart(10)} ${what}`
    this.#lines += `${line}\n`
    if (this.#lines.length >= MAX_LINES_CHARACTERS) this.#hashLines()
    this.#onTrace?.(line)
  }

  violate(invariant: string, detail: string): void {
    this.trace(`VIOLATION ${invariant}: ${detail}`)
    this.violations.push({ invariant, atMs: this.#time.nowMs, detail })
  }

  /** Keeps the largest value. The first value above `most` is a violation, reported once. */
  reach(what: keyof Extremes, value: number, most = Number.POSITIVE_INFINITY): void {
    const { extremes } = this
    if (value > most && extremes[what] <= most) this.violate(`at most ${most} ${what}`, String(value))
    extremes[what] = Math.max(extremes[what], value)
  }

  /** The hash of all events. Nothing is traced afterwards. */
  digest(): string {
    this.#hashLines()
    return this.#hash.digest('hex')
  }

  #hashLines(): void {
    this.#hash.update(this.#lines)
    this.#lines = ''
  }
}
