/** Records the miner's solution events in the journal. */
import type { MinerEvent, SolutionEvent } from '../mine/events.ts'
import type { Journal } from './journal.ts'
import type { JournalLine } from './record.ts'

interface JournalListenerOptions {
  readonly journal: Journal
  readonly network: string
  readonly account: string
  /** Unix time in milliseconds. */
  readonly nowMs: () => number
}

/** Returns a listener for the miner's events, which writes a line before it returns. */
export function journalListener({
  journal,
  network,
  account,
  nowMs,
}: JournalListenerOptions): (event: MinerEvent) => void {
  return (event) => {
    const at = new Date(nowMs()).toISOString()
    if (event.type === 'reward') {
      const { hash, amount, fees } = event
      journal.append({ at, hash, step: 'reward', amount, ...(fees !== undefined && { fees }) })
    }
    if (event.type === 'solution') journal.append(lineOf(event, at, { network, account }))
  }
}

function lineOf(
  event: SolutionEvent,
  at: string,
  of: { readonly network: string; readonly account: string },
): JournalLine {
  const { hash } = event
  switch (event.step) {
    case 'found': {
      const { issuer, chain, height, device, effort, difficulty, work } = event
      return { at, hash, step: 'found', ...of, issuer, chain, height, device, effort, difficulty, work }
    }
    case 'confirmed':
      return { at, hash, step: event.step, depth: event.depth }
    case 'stale':
    case 'orphaned':
      return { at, hash, step: event.step, ...mayReturnOf(event) }
    case 'unconfirmed':
      return { at, hash, step: event.step, message: shorten(event.message) }
    case 'rejected':
      return { at, hash, step: event.step, reason: event.reason, message: shorten(event.message) }
    case 'lost':
      return {
        at,
        hash,
        step: event.step,
        reason: event.reason,
        message: shorten(event.message),
        ...mayReturnOf(event),
      }
    default:
      return { at, hash, step: event.step }
  }
}

const mayReturnOf = (event: SolutionEvent) => 'mayReturn' in event && { mayReturn: event.mayReturn }

/** Maximum length of a message in a line, below the 2,000 characters that a reader takes (record.ts). */
const MAX_MESSAGE = 1000
const shorten = (message: string) => message.slice(0, MAX_MESSAGE)
