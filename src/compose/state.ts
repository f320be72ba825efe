/** The journal of a miner: opened before it mines, and read for what earlier runs left unfinished. */
import { decodeBase64Url } from '../core/bytes.ts'
import { describeError } from '../core/errors.ts'
import { type Disk, systemDisk } from '../journal/disk.ts'
import { Journal, type JournalContent, type JournalEvents, readJournal } from '../journal/journal.ts'
import { keeperOf } from '../journal/keeper.ts'
import { type BlockRecord, isUnfinished } from '../journal/record.ts'
import type { MinerEvent } from '../mine/events.ts'
import type { Unfinished, Verdict } from '../mine/life.ts'

export interface StateSetup {
  /** Folder of the journal. */
  readonly folder: string
  /**
   * Whether the user asked for it: then it is an error when nothing can be written there. Otherwise the miner mines and
   * tries on, and keeps no journal for development networks.
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
  /** Default: that of this machine. */
  readonly disk?: Disk
}

/** Solutions that are older are left as they are: whoever wants to know looks at their chain. */
const MAX_AGE_MS = 24 * 3600 * 1000
/** Most solutions of earlier runs that are followed, the newest ones. */
const MAX_UNFINISHED = 500
/** Most solutions of earlier runs that are shown. */
const MAX_RECENT = 60

/**
 * Whatever the disk says, the miner goes on, with what can be read and written. Throws NewcutError BAD_OPTION or
 * BAD_INPUT where the journal is required.
 */
export async function openState({ folder, isRequired }: StateSetup, options: StateOptions): Promise<KeptState> {
  const { network, account, confirmations, nowMs, onEvent, disk = systemDisk } = options
  const orElse = <T>(error: unknown, otherwise: T): T => {
    if (isRequired) throw error
    onEvent({ type: 'warning', message: `${describeError(error)}; mining all the same, and trying on` })
    return otherwise
  }
  const nothing: JournalContent = { records: new Map(), damaged: 0 }
  const { records, damaged } = await readJournal(folder, disk).catch((error) => orElse(error, nothing))
  const events: JournalEvents = {
    onTrouble: (message) => onEvent({ type: 'trouble', message }),
    onRecovered: (message) => onEvent({ type: 'recovered', message }),
  }
  let journal: Journal
  try {
    journal = Journal.open(folder, events, disk)
  } catch (error) {
    // The disk may be well again before the next solution.
    journal = orElse(error, Journal.later(folder, events, disk))
  }
  if (damaged > 0) onEvent({ type: 'warning', message: `the journal in ${folder} has ${damaged} unreadable lines` })
  const own = [...records.values()].filter((record) => record.network === network)
  const unfinished = own
    .filter((record) => isUnfinished(record, confirmations))
    .filter(({ foundAt }) => nowMs() - Date.parse(foundAt) < MAX_AGE_MS)
    .slice(-MAX_UNFINISHED)
    .map(unfinishedOf)
  const recent = own.slice(-MAX_RECENT)
  return { folder, unfinished, recent, onEvent: keeperOf({ journal, network, account, nowMs }) }
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
