/** The event stream behind a page, kept open with exponential backoff. */

/** Longest pause before the first retry; it doubles with each failure in a row. */
const FIRST_PAUSE_MS = 300
const MAX_PAUSE_MS = 5_000

export interface ListenOptions {
  readonly url: string
  /** Name of an event -> what takes its data. All others are ignored. */
  readonly events: Readonly<Record<string, (data: string) => void>>
  /** The stream broke, or was refused. It is opened again after a pause. */
  readonly onLost: () => void
  /** Longest time without an event before the stream counts as broken; default: no limit. */
  readonly maxSilentMs?: number
  /** Time before it is opened at first; default: none. */
  readonly delayMs?: number
}

/** Keeps the stream open. Returns what closes it: no callback runs after that. */
export function listen({ url, events, onLost, maxSilentMs, delayMs = 0 }: ListenOptions): () => void {
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
  const lost = () => {
    close()
    const longestMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures++)
    // Jitter: pages that lost the same server do not come back at once.
    next = setTimeout(open, longestMs * (0.5 + Math.random() / 2))
    onLost()
  }
  const expectMore = () => {
    clearTimeout(silence)
    if (maxSilentMs !== undefined) silence = setTimeout(lost, maxSilentMs)
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
    stream.addEventListener('error', lost)
    expectMore()
  }
  if (delayMs > 0) next = setTimeout(open, delayMs)
  else open()
  return close
}
