/** Keeps the event stream of a page open, with exponential backoff. */
import { backoffMs } from '#ground/base/backoff.ts'

/** Upper bound of the first retry pause. It doubles with each consecutive failure. */
const FIRST_PAUSE_MS = 300
const MAX_PAUSE_MS = 5_000

export interface ListenOptions {
  readonly url: string
  /** Event name -> handler of its data. Other events are ignored. */
  readonly events: Readonly<Record<string, (data: string) => void>>
  /** Called when the stream broke or was refused, before a retry. */
  readonly onLost: () => void
  /** Silence after which the stream counts as broken. Default: no limit. */
  readonly maxSilentMs?: number
  /** Delay before the first connection. Default: none. */
  readonly delayMs?: number
}

/** Keeps the stream open. @returns a function that closes it; no callback runs afterwards */
export function followEvents({ url, events, onLost, maxSilentMs, delayMs = 0 }: ListenOptions): () => void {
  let stream: EventSource | null = null
  let failures = 0
  let next: ReturnType<typeof setTimeout> | undefined
  let silence: ReturnType<typeof setTimeout> | undefined

  const close = () => {
    clearTimeout(next)
    clearTimeout(silence)
    stream?.close()
    stream = null
  }
  const reconnect = () => {
    close()
    next = setTimeout(
      open,
      backoffMs({ firstMs: FIRST_PAUSE_MS, maxMs: MAX_PAUSE_MS, jitter: 0.5 }, failures++, Math.random),
    )
    onLost()
  }
  const expectMore = () => {
    clearTimeout(silence)
    if (maxSilentMs !== undefined) silence = setTimeout(reconnect, maxSilentMs)
  }
  const open = () => {
    stream = new EventSource(url)
    for (const [name, take] of Object.entries(events)) {
      stream.addEventListener(name, (event) => {
        failures = 0
        expectMore()
        take((event as MessageEvent).data)
      })
    }
    stream.addEventListener('error', reconnect)
    expectMore()
  }
  if (delayMs > 0) next = setTimeout(open, delayMs)
  else open()
  return close
}
