/** Computes and serializes the changes of the miner once for all readers. */
import type { Clock } from '#ground/base/clock.ts'
import type { MinerEvent } from '#mining/mine/events.ts'
import type { Snapshot } from '#mining/mine/snapshot.ts'
import { BlockLog } from './blocks.ts'
import { RateRing, SAMPLE_EVERY_MS } from './history.ts'
import type { About, DashboardChange, DashboardState, RateSample, ShownBlock } from './state.ts'

/** Interval of change events. */
const EVERY_MS = 1_000
/** Minimum interval of change events after important news. */
const MIN_INTERVAL_MS = 200
/** Limit of readers. */
export const MAX_READERS = 16

/** Events that trigger an early change event. Block changes do too. */
const NEWS: ReadonlySet<MinerEvent['type']> = new Set(['work', 'idle', 'paused', 'resumed'])

export interface HubOptions {
  readonly about: About
  readonly snapshot: () => Snapshot
  readonly clock: Clock
  /** Solutions of earlier runs, oldest first. */
  readonly earlier?: readonly ShownBlock[]
}

/** Receives an event of the stream as JSON text. */
export type Reader = (name: 'state' | 'change', json: string) => void

export class Hub {
  readonly #options: HubOptions
  readonly #ring = new RateRing()
  readonly #blocks: BlockLog
  readonly #readers = new Set<Reader>()
  readonly #closers = new Set<() => void>()
  #samples: RateSample[] = []
  /** Field of the summary -> JSON that readers have. */
  #told = new Map<string, string>()
  #toldAtMs = Number.NEGATIVE_INFINITY
  #cancelSample: () => void = () => undefined
  #cancelTell: () => void = () => undefined
  #isHurried = false
  #isClosed = false

  constructor(options: HubOptions) {
    this.#options = options
    this.#blocks = new BlockLog(options.earlier ?? [], options.clock.wallMs)
    this.#planSample()
  }

  get clock(): Clock {
    return this.#options.clock
  }

  /** Whether another reader fits. */
  get hasRoom(): boolean {
    return this.#readers.size < MAX_READERS && !this.#isClosed
  }

  /** Receives every event of the miner. */
  onEvent(event: MinerEvent): void {
    const isNews = this.#blocks.onEvent(event) || NEWS.has(event.type)
    if (!isNews || this.#isHurried || this.#readers.size === 0) return
    this.#isHurried = true
    this.#planTell(Math.max(0, this.#toldAtMs + MIN_INTERVAL_MS - this.clock.monotonicMs()))
  }

  state(): DashboardState {
    const { about, snapshot } = this.#options
    const now = this.#now()
    const history = this.#ring.history(now)
    return { about, nowMs: now.wallMs, summary: snapshot(), history, blocks: this.#blocks.list() }
  }

  /**
   * Adds a reader, which gets the full state, then changes.
   * @param onClose called when the miner ends
   * @returns a function that removes the reader
   */
  read(reader: Reader, onClose: () => void): () => void {
    this.#readers.add(reader)
    this.#closers.add(onClose)
    if (this.#readers.size === 1) this.#planTell(EVERY_MS)
    reader('state', this.stateText())
    return () => {
      this.#readers.delete(reader)
      this.#closers.delete(onClose)
      if (this.#readers.size === 0) this.#cancelTell()
    }
  }

  /** The full state as JSON, for a new reader. */
  stateText(): string {
    // A reader's full state may differ from the last change event, so send every field again next time.
    this.#told.clear()
    return JSON.stringify(this.state())
  }

  close(): void {
    this.#isClosed = true
    this.#cancelSample()
    this.#cancelTell()
    for (const close of [...this.#closers]) close()
  }

  #now() {
    return { wallMs: this.clock.wallMs(), monotonicMs: this.clock.monotonicMs() }
  }

  #planSample(): void {
    this.#cancelSample = this.clock.after(SAMPLE_EVERY_MS, () => {
      const sample = this.#ring.sample(this.#options.snapshot(), this.#now())
      if (this.#readers.size > 0) this.#samples.push(sample)
      this.#planSample()
    })
  }

  #planTell(delayMs: number): void {
    this.#cancelTell()
    this.#cancelTell = this.clock.after(delayMs, () => {
      this.#isHurried = false
      this.#toldAtMs = this.clock.monotonicMs()
      this.#planTell(EVERY_MS)
      this.#tell()
    })
  }

  #tell(): void {
    const summary = this.#options.snapshot()
    const fields = new Map(Object.entries(summary).map(([name, value]) => [name, JSON.stringify(value)]))
    const isSame = [...this.#told.keys()].every((name) => fields.has(name))
    const news = Object.entries(summary).filter(([name]) => fields.get(name) !== this.#told.get(name))
    this.#told = fields
    const samples = this.#samples
    this.#samples = []
    const blocks = this.#blocks.takeChanged()
    const change: DashboardChange = {
      nowMs: this.clock.wallMs(),
      summary: Object.fromEntries(news),
      ...(samples.length > 0 && { samples }),
      ...(blocks.length > 0 && { blocks }),
    }
    // A change cannot express a removed field, so send the full state.
    const [name, text] = isSame ? (['change', JSON.stringify(change)] as const) : (['state', this.stateText()] as const)
    for (const reader of [...this.#readers]) reader(name, text)
  }
}
