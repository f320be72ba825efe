/** The journal of a miner: opened before it mines, and read for what earlier runs left unfinished. */
import { decodeBase64Url } from '../core/bytes.ts'
import { describeError } from '../core/errors.ts'
import { Journal, readJournal } from '../journal/journal.ts'
import { keeperOf } from '../journal/keeper.ts'
import { type BlockRecord, isUnfinished } from '../journal/record.ts'
import type { MinerEvent } from '../mine/events.ts'
import type { Unfinished, Verdict } from '../mine/life.ts'

export interface StateSetup {
  /** Folder of the journal. */
  readonly folder: string
  /**
   * Whether the user asked for it: then it is an error when nothing can be written there. Otherwise the miner goes on
   * without a journal, and keeps none for development networks.
   */
  readonly isRequired: boolean
}

export interface KeptState {
  readonly folder: string
  readonly unfinished: readonly Unfinished[]
  /** The newest solutions of earlier runs on the network, oldest first. */
  readonly recent: readonly BlockRecord[]
  readonly onEvent: (event: MinerEvent) => void
}

export interface StateOptions {
  readonly network: string
  readonly account: string
  readonly confirmations: number
  readonly nowMs: () => number
  readonly onEvent: (event: MinerEvent) => void
}

/** Solutions that are older are left as they are: whoever wants to know looks at their chain. */
const MAX_AGE_MS = 24 * 3600 * 1000
/** Most solutions of earlier runs that are followed, the newest ones. */
const MAX_UNFINISHED = 500
/** Most solutions of earlier runs that are shown. */
const MAX_RECENT = 60

/** null: no journal can be kept, which is told. Throws NewcutError BAD_OPTION where it is required. */
export async function openState({ folder, isRequired }: StateSetup, options: StateOptions): Promise<KeptState | null> {
  const { network, account, confirmations, nowMs, onEvent } = options
  try {
    const { records, damaged } = await readJournal(folder)
    const journal = Journal.open(folder, {
      onTrouble: (message) => onEvent({ type: 'trouble', message }),
      onRecovered: (message) => onEvent({ type: 'recovered', message }),
    })
    if (damaged > 0) onEvent({ type: 'warning', message: `the journal in ${folder} has ${damaged} unreadable lines` })
    const own = [...records.values()].filter((record) => record.network === network)
    const unfinished = own
      .filter((record) => isUnfinished(record, confirmations))
      .filter(({ foundAt }) => nowMs() - Date.parse(foundAt) < MAX_AGE_MS)
      .slice(-MAX_UNFINISHED)
      .map(unfinishedOf)
    const recent = own.slice(-MAX_RECENT)
    return { folder, unfinished, recent, onEvent: keeperOf({ journal, network, account, nowMs }) }
  } catch (error) {
    if (isRequired) throw error
    onEvent({ type: 'warning', message: `${describeError(error)}; mining without a journal` })
    return null
  }
}

function unfinishedOf(record: BlockRecord): Unfinished {
  const { work, issuer, device, effort, foundAt, state } = record
  const isAcknowledged = state === 'acknowledged' || state === 'confirmed' || state === 'unconfirmed'
  const bytes = decodeBase64Url(work)
  return { bytes, issuer, device, effort, foundAtMs: Date.parse(foundAt), isAcknowledged, verdict: verdictIn(state) }
}

function verdictIn(state: BlockRecord['state']): Verdict | null {
  if (state === 'confirmed') return 'accepted'
  return state === 'unconfirmed' || state === 'lost' ? state : null
}
