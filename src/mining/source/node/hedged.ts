/** Hedged requests: repeated while they have no answer, because one may get lost and the next arrive. */
import type { Clock } from '#ground/base/clock.ts'
import { type NewcutError, operatingError } from '#ground/base/errors.ts'
import { sourceErrors } from '../errors.ts'
import { AdaptiveTimeout } from './adaptive-timeout.ts'
import type { Wakeups } from './wakeups.ts'

interface HedgeOptions {
  readonly clock: Clock
  /** Text for the error, and key of the timeout: `a request for work`. */
  readonly what: string
  /** Aborts everything; the call rejects with its reason. */
  readonly signal?: AbortSignal | undefined
  /** Interval between requests. Default: HEDGE_MS. */
  readonly everyMs?: number
  /** Resends the request when the node is back. Default: none. */
  readonly wakeups?: Wakeups | undefined
  /** Default: 5 s for everything. */
  readonly timeouts?: AdaptiveTimeout | undefined
}

/** Interval between requests without an answer. The first answer to any of them counts. */
export const HEDGE_MS = 1_500
/**
 * Maximum number of parallel requests, so that a silent node does not use up the connections of this miner. The first
 * stays, because the node may only be slow. The newest stay, because the older connections may be dead.
 */
const MAX_AT_ONCE = 4

/**
 * Runs a request, and repeats it every 1.5 s and when the node is back, while none is answered. Resolves with the first
 * answer. Rejects with the first failure, with NewcutError NODE_UNREACHABLE after the timeout, or with the reason of
 * the signal. Aborts all other requests when it settles.
 */
export function sendHedged<T>(request: (signal: AbortSignal) => Promise<T>, options: HedgeOptions): Promise<T> {
  return new Promise((resolve, reject) => new HedgedRequest(request, options, { resolve, reject }).start())
}

/** How the promise of a hedged request settles. */
interface PromiseResolvers<T> {
  readonly resolve: (answer: T) => void
  readonly reject: (error: unknown) => void
}

/** One request in up to four open attempts. */
class HedgedRequest<T> {
  readonly #request: (signal: AbortSignal) => Promise<T>
  readonly #options: HedgeOptions
  readonly #settlers: PromiseResolvers<T>
  readonly #timeouts: AdaptiveTimeout
  readonly #startMs: number
  readonly #timeoutMs: number
  /** Attempts without an answer, the oldest first. */
  readonly #open = new Set<AbortController>()
  #isSettled = false
  /** Cancels the timer of the next attempt or of the timeout. */
  #cancelTimer: () => void = () => undefined
  #forgetWakeups: () => void = () => undefined

  constructor(request: (signal: AbortSignal) => Promise<T>, options: HedgeOptions, settlers: PromiseResolvers<T>) {
    const { clock, what, timeouts = new AdaptiveTimeout() } = options
    this.#request = request
    this.#options = options
    this.#settlers = settlers
    this.#timeouts = timeouts
    this.#startMs = clock.monotonicMs()
    this.#timeoutMs = timeouts.timeoutMs(what)
  }

  /** Sends the first attempt. */
  start(): void {
    const { signal, wakeups } = this.#options
    if (wakeups !== undefined) this.#forgetWakeups = wakeups.onBack((wasAway) => this.#sendAgain(wasAway))
    if (signal?.aborted) {
      this.#stop()
      return
    }
    signal?.addEventListener('abort', this.#stop, { once: true })
    this.#send()
  }

  /** Sends an attempt, and schedules the next one. */
  #send(): void {
    if (this.#open.size >= MAX_AT_ONCE) this.#drop([...this.#open].slice(1, 2))
    const attempt = new AbortController()
    this.#open.add(attempt)
    this.#request(attempt.signal).then(
      (answer) => this.#settle(() => this.#accept(answer)),
      (error) => {
        // The failure of a dropped request says nothing about the others.
        if (this.#open.delete(attempt)) this.#settle(() => this.#settlers.reject(error))
      },
    )
    this.#schedule()
  }

  /** Uses one timer for the next attempt and the timeout, because many calls wait at once for a silent node. */
  #schedule(): void {
    const { clock, everyMs = HEDGE_MS } = this.#options
    const leftMs = this.#startMs + this.#timeoutMs - clock.monotonicMs()
    this.#cancelTimer()
    this.#cancelTimer =
      leftMs <= everyMs ? clock.after(leftMs, () => this.#giveUp()) : clock.after(everyMs, () => this.#send())
  }

  #sendAgain(wasAway: boolean): void {
    // Requests sent while the node was away are probably lost, and block others.
    if (wasAway) this.#drop([...this.#open])
    this.#send()
  }

  #accept(answer: T): void {
    const { clock, what } = this.#options
    this.#timeouts.recordAnswer(what, clock.monotonicMs() - this.#startMs)
    this.#settlers.resolve(answer)
  }

  #giveUp(): void {
    this.#settle(() => {
      this.#timeouts.recordTimeout(this.#options.what)
      this.#settlers.reject(this.#timeoutError())
    })
  }

  readonly #stop = () => this.#settle(() => this.#settlers.reject(this.#options.signal?.reason))

  /** Settles the promise once, and aborts what is open. */
  #settle(settle: () => void): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#cancelTimer()
    this.#forgetWakeups()
    this.#options.signal?.removeEventListener('abort', this.#stop)
    settle()
    this.#drop([...this.#open])
  }

  #drop(attempts: readonly AbortController[]): void {
    for (const attempt of attempts) {
      this.#open.delete(attempt)
      attempt.abort(this.#timeoutError())
    }
  }

  #timeoutError(): NewcutError {
    const { what } = this.#options
    return operatingError(sourceErrors.noAnswer, { what, seconds: Math.round(this.#timeoutMs / 1000) })
  }
}
