/** Listens to the node. Opens the stream again whenever it ends; each begins with the whole view. */
import type { View } from './state.ts'

const FIRST_PAUSE_MS = 300
const MAX_PAUSE_MS = 5000

export interface LiveHandlers {
  readonly onView: (view: View) => void
  readonly onChange: (change: Partial<View>) => void
  /** The node does not answer. */
  readonly onGone: () => void
}

export function listen({ onView, onChange, onGone }: LiveHandlers): void {
  let pauseMs = FIRST_PAUSE_MS
  const open = () => {
    const stream = new EventSource('/devnet/live')
    stream.addEventListener('view', (event) => {
      pauseMs = FIRST_PAUSE_MS
      onView(JSON.parse(event.data))
    })
    stream.addEventListener('change', (event) => onChange(JSON.parse(event.data)))
    stream.addEventListener('error', () => {
      stream.close()
      onGone()
      setTimeout(open, pauseMs)
      pauseMs = Math.min(MAX_PAUSE_MS, 2 * pauseMs)
    })
  }
  open()
}
