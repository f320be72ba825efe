/** Hears of news on the chain that is searched. Opens its stream again whenever it ends. */
import type { Clock } from '../../../core/clock.ts'

/** A chain is followed when its work has lasted this long: easy work is solved before a stream would stand. */
const SETTLE_MS = 400
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 10_000
/** The gateway sends something every 10 s; a stream that is silent for longer is dead. */
const MAX_SILENCE_MS = 30_000

export interface NewsOptions {
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** The chain may have moved on. */
  readonly onNews: () => void
}

export class News {
  readonly #options: NewsOptions
  #chain: number | null = null
  #stream: EventSource | null = null
  #attempts = 0
  #cancelOpen = () => undefined as unknown
  #cancelSilence = () => undefined as unknown

  constructor(options: NewsOptions) {
    this.#options = options
  }

  /** From now on this chain; null: none. */
  follow(chain: number | null): void {
    if (chain === this.#chain) return
    this.#chain = chain
    this.#attempts = 0
    this.#close()
    if (chain !== null) this.#openLater(SETTLE_MS)
  }

  #openLater(delayMs: number): void {
    this.#cancelOpen = this.#options.clock.after(delayMs, () => this.#open())
  }

  #open(): void {
    const stream = new EventSource(`/mine/updates?chain=${this.#chain}`)
    this.#stream = stream
    const heard = (isNews: boolean) => () => {
      this.#attempts = 0
      this.#expectMore()
      if (isNews) this.#options.onNews()
    }
    stream.addEventListener('cut', heard(true))
    // What happened before the stream stood was missed.
    stream.addEventListener('stands', heard(true))
    stream.addEventListener('broken', heard(true))
    stream.addEventListener('alive', heard(false))
    stream.addEventListener('error', () => this.#reopen())
    this.#expectMore()
  }

  #reopen(): void {
    this.#close()
    const { random, onNews } = this.#options
    const longestMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#attempts++)
    this.#openLater(random() * longestMs)
    // The node may be gone; a request for work shows it.
    onNews()
  }

  #expectMore(): void {
    this.#cancelSilence()
    this.#cancelSilence = this.#options.clock.after(MAX_SILENCE_MS, () => this.#reopen())
  }

  #close(): void {
    this.#cancelOpen()
    this.#cancelSilence()
    this.#stream?.close()
    this.#stream = null
  }
}
