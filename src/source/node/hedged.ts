/** Requests that are sent again while they are not answered: the way to a node may lose one, and let the next through. */
import type { Clock } from '../../core/clock.ts'
import { NewcutError } from '../../core/errors.ts'
import { AdaptiveTimeout } from './adaptive-timeout.ts'
import type { Wakeups } from './wakeups.ts'

export interface HedgeOptions {
  readonly clock: Clock
  /** What is asked, for the error and the timeout: `a request for work`. */
  readonly what: string
  /** Aborts all of it; the call rejects with the signal's reason. Without it nothing does. */
  readonly signal?: AbortSignal | undefined
  /** From one request to the next; default: HEDGE_MS. */
  readonly everyMs?: number
  /** Sends the request once more when the node is back; default: nothing does. */
  readonly wakeups?: Wakeups | undefined
  /** Default: 5 s. */
  readonly timeouts?: AdaptiveTimeout | undefined
}

/** No answer for this long: the request is sent once more, and the first answer to any of them is taken. */
export const HEDGE_MS = 1_500
/**
 * Most requests at once. The first is kept, for the node may only be slow, and so are the newest, for the connections of
 * those before may be dead.
 */
const MAX_AT_ONCE = 4

/**
 * Runs a request, and again every 1.5 s, and when the node is back, while none of them is answered. Resolves with the
 * first answer. Rejects with the first failure, with NewcutError NODE_UNREACHABLE after the timeout, or with the signal's
 * reason. Whatever it started is aborted when it settles.
 */
export function hedged<T>(request: (signal: AbortSignal) => Promise<T>, options: HedgeOptions): Promise<T> {
  const { clock, what, signal, everyMs = HEDGE_MS, wakeups, timeouts = new AdaptiveTimeout() } = options
  return new Promise<T>((resolve, reject) => {
    const requests = new Set<AbortController>()
    let isSettled = false
    const startMs = clock.monotonicMs()
    const timeoutMs = timeouts.of(what)
    const noAnswer = () => new NoAnswer(what, timeoutMs)
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
          // One that was dropped says nothing about the others.
          if (requests.delete(sent)) settle(() => reject(error))
        },
      )
      cancel()
      // One timer for both: many of these wait at once while a node does not answer.
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
      // What was sent while the node was away is most likely lost, and keeps others waiting for their turn.
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

/** The node does not answer. */
class NoAnswer extends NewcutError {
  constructor(what: string, timeoutMs: number) {
    super('NODE_UNREACHABLE', `no answer to ${what} within ${Math.round(timeoutMs / 1000)} s`)
  }
}
