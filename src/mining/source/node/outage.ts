/** Reports an outage once when it begins and once when it ends, whatever fails and however often. */
import type { Clock } from '#ground/base/clock.ts'
import { formatDuration } from '#ground/base/units.ts'
import type { SourceEvents } from '../source.ts'

/** A failure this soon after an outage, in ms, is not reported at once: the node may fail at every few requests. */
const FLAPPING_MS = 10_000
/** How long such a failure must last to be reported, in ms. */
const FLAPPING_GRACE_MS = 1_000

export class Outage {
  readonly #clock: Clock
  readonly #events: SourceEvents
  /** Failing part -> cancels its pending report. */
  readonly #failing = new Map<string, () => void>()
  #sinceMs: number | null = null
  #recoveredMs = Number.NEGATIVE_INFINITY
  #ended = false

  constructor(clock: Clock, events: SourceEvents) {
    this.#clock = clock
    this.#events = events
  }

  /** Records that `what` failed. It is an outage if it still fails after `leastMs`, or later after another outage. */
  reportFailure(what: string, message: string, leastMs = 0): void {
    if (this.#ended || this.#failing.has(what)) return
    const isFlapping = this.#clock.monotonicMs() - this.#recoveredMs < FLAPPING_MS
    const graceMs = isFlapping ? Math.max(leastMs, FLAPPING_GRACE_MS) : leastMs
    const report = () => {
      if (this.#sinceMs !== null) return
      this.#sinceMs = this.#clock.monotonicMs() - graceMs
      this.#events.onTrouble(message)
    }
    if (graceMs === 0) {
      this.#failing.set(what, () => undefined)
      report()
    } else this.#failing.set(what, this.#clock.after(graceMs, report))
  }

  /** Records that `what` works. The outage ends when everything does. */
  reportSuccess(what: string): void {
    this.#failing.get(what)?.()
    if (!this.#failing.delete(what) || this.#failing.size > 0 || this.#sinceMs === null) return
    this.#recoveredMs = this.#clock.monotonicMs()
    const lastedMs = this.#recoveredMs - this.#sinceMs
    this.#sinceMs = null
    this.#events.onRecovered(`the node answers again, after ${formatDuration(lastedMs)}`)
  }

  /** Ends all reports. */
  end(): void {
    this.#ended = true
    for (const cancel of this.#failing.values()) cancel()
    this.#failing.clear()
  }
}
