/** Watches the miner for all readers at once: what is new is worked out and written as text one time. */
import type { Clock } from '../../core/clock.ts'
import type { MinerEvent } from '../../mine/events.ts'
import type { Snapshot } from '../../mine/snapshot.ts'
import { BlockLog } from './blocks.ts'
import { RateRing, SAMPLE_EVERY_MS } from './history.ts'
import type { About, DashboardChange, DashboardState, RateSample, ShownBlock } from './state.ts'

/** Readers hear this often. */
const EVERY_MS = 1_000
/** And after news this soon, but not more often. */
const MIN_INTERVAL_MS = 200
/** Most readers at once. */
export const MAX_READERS = 16

/** Events after which readers hear sooner; so do they after news of blocks. */
const NEWS: ReadonlySet<MinerEvent['type']> = new Set(['work', 'idle', 'paused', 'resumed'])

export interface HubOptions {
  readonly about: About
  readonly snapshot: () => Snapshot
  readonly clock: Clock
  /** Solutions of earlier runs, oldest first. */
  readonly earlier?: readonly ShownBlock[]
}

/** An event of the stream, as text. */
export type Reader = (name: 'state' | 'change', json: string) => void

export class Hub {
  readonly #options: HubOptions
  readonly #ring = new RateRing()
  readonly #blocks: BlockLog
  readonly #readers = new Set<Reader>()
  readonly #closers = new Set<() => void>()
  #samples: RateSample[] = []
  /** Field of the summary -> its JSON, as readers know it. */
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

  /** Whether one more reader may come. */
  get hasRoom(): boolean {
    return this.#readers.size < MAX_READERS && !this.#isClosed
  }

  /** Takes every event of the miner. */
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

  /** The reader gets everything at once, and then what is new. `onClose`: the miner ends. Returns what ends it. */
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

  /** All of it, for a reader that knows nothing. */
  stateText(): string {
    // What a field is now may be other than what was told last, and be that again at the next change.
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
    // A field that is gone cannot be told as a change.
    const [name, text] = isSame ? (['change', JSON.stringify(change)] as const) : (['state', this.stateText()] as const)
    for (const reader of [...this.#readers]) reader(name, text)
  }
}
