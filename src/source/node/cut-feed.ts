/**
 * The heads of a node's chains, asked for at a steady pace. Update streams tell earlier, but one may be silent without
 * being broken, and work that is dead would be searched on.
 */
import { NewcutError } from '../../core/errors.ts'
import type { NodeCalls } from './calls.ts'
import type { CutHeads, MiningNode } from './mining-node.ts'

/** From one answer to the next question. */
const BEAT_MS = 1_000
/** The same while the node does not answer, or the news of the searched chain does not get through. */
const HURRIED_BEAT_MS = 500
/** A node that takes longer to answer may have been away. */
const LATE_MS = 1_000

export interface HeartbeatOptions {
  readonly node: Pick<MiningNode, 'cut'>
  readonly calls: NodeCalls
  readonly onCut: (cut: CutHeads) => void
  /** The node answers again, after it did not for a second or more. `wasAway`: not even to a whole question. */
  readonly onBack: (wasAway: boolean) => void
  /** Whether to ask more often. */
  readonly isHurried: () => boolean
  /** Called with an error that is no failure of the node. */
  readonly onFault: (error: unknown) => void
}

/** Asks until the signal aborts. A node that does not answer is told of by whoever asks it for work. */
export function startHeartbeat(
  { node, calls, onCut, onBack, isHurried, onFault }: HeartbeatOptions,
  signal: AbortSignal,
): void {
  const { clock } = calls
  let cancel: () => void = () => undefined
  let isAway = false
  const beat = async () => {
    const startMs = clock.monotonicMs()
    try {
      const cut = await calls.ask('cut', (each) => node.cut(each), signal)
      const wasAway = isAway
      isAway = false
      if (signal.aborted) return
      onCut(cut)
      if (wasAway || clock.monotonicMs() - startMs >= LATE_MS) onBack(wasAway)
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof NewcutError)) throw error
      isAway = true
    }
    next()
  }
  const next = () => {
    if (signal.aborted) return
    cancel = clock.after(isAway || isHurried() ? HURRIED_BEAT_MS : BEAT_MS, () => void beat().catch(onFault))
  }
  signal.addEventListener('abort', () => cancel(), { once: true })
  next()
}
