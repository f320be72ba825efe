/** Hedged requests: repeated while they have no answer, because one may get lost and the next arrive. */
import type { Clock } from '#ground/base/clock.ts'
import { NewcutError } from '#ground/base/errors.ts'
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
 * Maximum number of parallel requests. The first stays, because the node may only be slow. The newest stay, because the
 * older connections may be dead.
 */
const MAX_AT_ONCE = 4

/**
 * Runs a request, and repeats it every 1.5 s and when the node is back, while none is answered. Resolves with the first
 * answer. Rejects with the first failure, with NewcutError NODE_UNREACHABLE after the timeout, or with the reason of
 * the signal. Aborts all other requests when it settles.
 */
export function hedged<T>(request: (signal: AbortSignal) => Promise<T>, options: HedgeOptions): Promise<T> {
  const { clock, what, signal, everyMs = HEDGE_MS, wakeups, timeouts = new AdaptiveTimeout() } = options
  return new Promise<T>((resolve, reject) => {
    const requests = new Set<AbortController>()
    let isSettled = false
    const startMs = clock.monotonicMs()
    const timeoutMs = timeouts.of(what)
    const noAnswer = () =>
      new NewcutError('NODE_UNREACHABLE', `no answer to ${what} within ${Math.round(timeoutMs / 1000)} s`)
    const drop = (dropped: Iterable<AbortController>) => {
      for (const each of dropped) {
        requests.delete(each)
        each.abort(noAnswer())
      }
    }
    const settle = (settled: () => void) => {
      if (isSettled) return
      isSettled = true
      cancel()
      forgetWakeups()
      signal?.removeEventListener('abort', stop)
      settled()
      drop([...requests])
    }
    const stop = () => settle(() => reject(signal?.reason))
    const answered = (answer: T) => {
      timeouts.answered(what, clock.monotonicMs() - startMs)
      resolve(answer)
    }
    const send = () => {
      if (requests.size >= MAX_AT_ONCE) drop([...requests].slice(1, 2))
      const sent = new AbortController()
      requests.add(sent)
      request(sent.signal).then(
        (answer) => settle(() => answered(answer)),
        (error) => {
          // The failure of a dropped request says nothing about the others.
          if (requests.delete(sent)) settle(() => reject(error))
        },
      )
      cancel()
      // One timer for both, because many calls wait at once while a node does not answer.
      const leftMs = endMs - clock.monotonicMs()
      cancel = leftMs <= everyMs ? clock.after(leftMs, end) : clock.after(everyMs, send)
    }
    const missed = () => {
      timeouts.missed(what)
      reject(noAnswer())
    }
    const end = () => settle(missed)
    const endMs = startMs + timeoutMs
    let cancel: () => void = () => undefined
    const again = (wasAway: boolean) => {
      // Requests sent while the node was away are most likely lost, and block others.
      if (wasAway) drop([...requests])
      send()
    }
    const forgetWakeups = wakeups?.onBack(again) ?? (() => undefined)
    if (signal?.aborted) {
      stop()
      return
    }
    signal?.addEventListener('abort', stop, { once: true })
    send()
  })
}
