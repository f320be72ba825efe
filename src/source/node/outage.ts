/** Tells of an outage once when it begins and once when it is over, whatever fails and however often. */
import type { Clock } from '../../core/clock.ts'
import { formatDuration } from '../../core/units.ts'
import type { SourceEvents } from '../source.ts'

export class Outage {
  readonly #clock: Clock
  readonly #events: SourceEvents
  /** What fails now -> what takes back the pending report. */
  readonly #failing = new Map<string, () => void>()
  #sinceMs: number | null = null
  #ended = false

  constructor(clock: Clock, events: SourceEvents) {
    this.#clock = clock
    this.#events = events
  }

  /** `what` failed. It is an outage if it still fails after `graceMs`. */
  failed(what: string, message: string, graceMs = 0): void {
    if (this.#ended || this.#failing.has(what)) return
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

  /** `what` works. The outage is over when everything does. */
  works(what: string): void {
    this.#failing.get(what)?.()
    if (!this.#failing.delete(what) || this.#failing.size > 0 || this.#sinceMs === null) return
    const lastedMs = this.#clock.monotonicMs() - this.#sinceMs
    this.#sinceMs = null
    this.#events.onRecovered(`the node answers again, after ${formatDuration(lastedMs)}`)
  }

  /** Says nothing any more. */
  end(): void {
    this.#ended = true
    for (const cancel of this.#failing.values()) cancel()
    this.#failing.clear()
  }
}
