/** What a simulation has to tell: everything that happened, what must not have, and the largest values. */
import { createHash } from 'node:crypto'
import type { VirtualTime } from './virtual-time.ts'

/** Lines are hashed many at a time. */
const MAX_LINES_CHARACTERS = 64 * 1024

/** Something that must not happen. */
export interface Violation {
  readonly invariant: string
  readonly atMs: number
  readonly detail: string
}

/** Largest values of a run, to set bounds by. */
export interface Extremes {
  /** Until useful work was back that there was none of at the end of all faults. */
  recoveryMs: number
  /** The longest time without useful work since then. */
  gapMs: number
  /** The longest gap while one of several nodes was well. */
  switchMs: number
  /** Until work came from the first of several nodes, from the end of all faults. */
  failbackMs: number
  deadWorkMs: number
  verdictMs: number
  /** Until a verdict that might change was told for good, from when it could be. */
  settledMs: number
  timers: number
  connections: number
  undecided: number
  unreadBytes: number
  /** Files of the journal that are open at once. */
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

  /** Keeps the largest value. A violation is told of once, at the first value above `most`. */
  reach(what: keyof Extremes, value: number, most = Number.POSITIVE_INFINITY): void {
    const { extremes } = this
    if (value > most && extremes[what] <= most) this.violate(`at most ${most} ${what}`, String(value))
    extremes[what] = Math.max(extremes[what], value)
  }

  /** Hash of everything that happened. Nothing is traced afterwards. */
  digest(): string {
    this.#hashLines()
    return this.#hash.digest('hex')
  }

  #hashLines(): void {
    this.#hash.update(this.#lines)
    this.#lines = ''
  }
}
