/** Requests that are sent again while they are not answered: the way to a node may lose one, and let the next through. */
import type { Clock } from '../../core/clock.ts'
import { NewcutError } from '../../core/errors.ts'
import type { Pulse } from './pulse.ts'

export interface HedgeOptions {
  readonly clock: Clock
  /** What is asked, for the error: `a request for work`. */
  readonly what: string
  /** Aborts all of it; the call rejects with the signal's reason. */
  readonly signal: AbortSignal
  /** From one request to the next; default: HEDGE_MS. */
  readonly everyMs?: number
  /** At its beat the request is sent once more. */
  readonly pulse?: Pulse | undefined
}

/** No answer for this long: the request is sent once more, and the first answer to any of them is taken. */
export const HEDGE_MS = 1_500
/** No answer to any of them for this long: it has failed. */
export const MAX_ANSWER_MS = 5_000

/**
 * Runs a request, and again every 1.5 s, and when the node is back, while none of them is answered. Resolves with the
 * first answer. Rejects with the first failure, with NewcutError NODE_UNREACHABLE after 5 s without any answer, or with the
 * signal's reason. Whatever it started is aborted when it settles.
 */
export function hedged<T>(request: (signal: AbortSignal) => Promise<T>, options: HedgeOptions): Promise<T> {
  const { clock, what, signal, everyMs = HEDGE_MS, pulse } = options
  return new Promise<T>((resolve, reject) => {
    const requests = new Set<AbortController>()
    let isSettled = false
    const drop = () => {
      for (const each of requests) each.abort(new NoAnswer(what))
      requests.clear()
    }
    const settle = (settled: () => void) => {
      if (isSettled) return
      isSettled = true
      cancel()
      forgetPulse()
      signal.removeEventListener('abort', stop)
      settled()
      drop()
    }
    const stop = () => settle(() => reject(signal.reason))
    const send = () => {
      const sent = new AbortController()
      requests.add(sent)
      request(sent.signal).then(
        (answer) => settle(() => resolve(answer)),
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
    const end = () => settle(() => reject(new NoAnswer(what)))
    const endMs = clock.monotonicMs() + MAX_ANSWER_MS
    let cancel: () => void = () => undefined
    // What was sent while the node was away is most likely lost, and keeps others waiting for their turn.
    const again = () => {
      drop()
      send()
    }
    const forgetPulse = pulse?.onBeat(again) ?? (() => undefined)
    if (signal.aborted) {
      stop()
      return
    }
    signal.addEventListener('abort', stop, { once: true })
    send()
  })
}

/** The node does not answer. */
class NoAnswer extends NewcutError {
  constructor(what: string) {
    super('NODE_UNREACHABLE', `no answer to ${what} within ${MAX_ANSWER_MS / 1000} s`)
  }
}
