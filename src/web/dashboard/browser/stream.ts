/** The miner's event stream, opened again whenever it ends; closed while nobody looks at the page. */
import type { DashboardChange, DashboardState } from '../state.ts'

const EVENTS = '/api/events'
/** Between attempts when the server refuses: browsers try again by themselves only where the connection broke. */
const RETRY_MS = 2_000
/** The miner says something every second. A connection that is silent for longer is dead. */
const MAX_SILENT_MS = 8_000

export interface StreamHandlers {
  readonly onState: (state: DashboardState) => void
  readonly onChange: (change: DashboardChange) => void
  /** Nothing comes any more; it is tried again. */
  readonly onLost: () => void
}

/** Listens for as long as the page lives. */
export function listen({ onState, onChange, onLost }: StreamHandlers): void {
  let source: EventSource | null = null
  let retry: ReturnType<typeof setTimeout> | undefined
  let silent: ReturnType<typeof setTimeout> | undefined

  const close = () => {
    clearTimeout(retry)
    clearTimeout(silent)
    source?.close()
    source = null
  }
  const again = () => {
    close()
    onLost()
    retry = setTimeout(open, RETRY_MS)
  }
  const heard = () => {
    clearTimeout(silent)
    silent = setTimeout(again, MAX_SILENT_MS)
  }
  const open = () => {
    close()
    const opened = new EventSource(EVENTS)
    source = opened
    heard()
    opened.addEventListener('state', ({ data }) => {
      heard()
      onState(JSON.parse(data))
    })
    opened.addEventListener('change', ({ data }) => {
      heard()
      onChange(JSON.parse(data))
    })
    opened.addEventListener('error', () => {
      if (opened.readyState === EventSource.CLOSED) again()
      else onLost()
    })
  }
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()))
  // A page that is opened in the background has nobody to show anything to yet.
  if (!document.hidden) open()
}
