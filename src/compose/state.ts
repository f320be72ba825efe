/** Opens the journal of a miner and reads the unsettled solutions of earlier runs. */
import { decodeBase64Url } from '../core/bytes.ts'
import { type Clock, sleep } from '../core/clock.ts'
import { describeError, NewcutError } from '../core/errors.ts'
import { verdictOf, wasTaken } from '../core/solution.ts'
import { type Disk, systemDisk } from '../journal/disk.ts'
import { Journal, type JournalContent, type JournalEvents, readJournal } from '../journal/journal.ts'
import { keeperOf } from '../journal/keeper.ts'
import { type BlockRecord, isUnfinished } from '../journal/record.ts'
import type { MinerEvent } from '../mine/events.ts'
import type { Unfinished } from '../mine/life.ts'

export interface StateSetup {
  /** Folder of the journal. */
  readonly folder: string
  /**
   * Whether the user named the folder. An unusable folder is then an error. Otherwise the miner mines, keeps retrying,
   * and keeps no journal for development networks.
   */
  readonly isRequired: boolean
}

export interface KeptState {
  readonly folder: string
  readonly unfinished: readonly Unfinished[]
  /**
   * Resolves with the unsettled solutions of an unreadable journal once it becomes readable. Resolves with an empty
   * list if the journal was readable at the start, and when the signal aborts.
   */
  readonly left: (signal: AbortSignal) => Promise<readonly Unfinished[]>
  /** The newest solutions of earlier runs on the network, oldest first. */
  readonly recent: readonly BlockRecord[]
  /** Hashes of confirmed blocks of earlier runs whose reward is unknown. */
  readonly unpaid: readonly string[]
  readonly onEvent: (event: MinerEvent) => void
}

export interface StateOptions {
  readonly network: string
  readonly account: string
  readonly confirmations: number
  readonly clock: Clock
  readonly onEvent: (event: MinerEvent) => void
  /** Receives the solutions of earlier runs on the network, oldest first, once the journal was read. Default: nobody. */
  readonly onEarlier?: (record: BlockRecord) => void
  /** Default: the file system of this machine. */
  readonly disk?: Disk
}

/** Limit of the solutions of earlier runs that a start settles, newest first. */
const MAX_UNFINISHED = 500
/** Retry interval of an unreadable journal. */
const RETRY_MS = 2_000
/** Limit of the solutions of earlier runs on the dashboard. */
const MAX_RECENT = 60

/**
 * Opens the journal. The miner continues despite disk errors, with whatever it can read and write, unless the journal
 * is required. Throws NewcutError BAD_OPTION or BAD_INPUT for a required journal that is unusable.
 */
export async function openState({ folder, isRequired }: StateSetup, options: StateOptions): Promise<KeptState> {
  const { network, account, confirmations, clock, onEvent, onEarlier = () => undefined, disk = systemDisk } = options
  const nowMs = () => clock.wallMs()
  const orElse = <T>(error: unknown, otherwise: T): T => {
    if (isRequired) throw error
    onEvent({ type: 'warning', message: `${describeError(error)}; mining continues, and newcut keeps trying` })
    return otherwise
  }
  const read = () => readJournal(folder, disk)
  const content = await read().catch((error) => orElse<JournalContent | null>(error, null))
  const { records, damaged } = content ?? { records: new Map<string, BlockRecord>(), damaged: 0 }
  const events: JournalEvents = {
    onTrouble: (message) => onEvent({ type: 'trouble', message }),
    onRecovered: (message) => onEvent({ type: 'recovered', message }),
  }
  let journal: Journal
  try {
    journal = Journal.open(folder, events, disk)
  } catch (error) {
    // The disk may have recovered by the next solution.
    journal = orElse(error, Journal.later(folder, events, disk))
  }
  const tellDamaged = (lines: number) => {
    if (lines > 0) onEvent({ type: 'warning', message: `the journal in ${folder} has ${lines} unreadable lines` })
  }
  tellDamaged(damaged)
  const ownOf = (from: JournalContent['records']) => [...from.values()].filter((record) => record.network === network)
  const unfinishedOf = (own: readonly BlockRecord[]) => {
    const all = own.filter((record) => isUnfinished(record, confirmations))
    const rest = all.length - MAX_UNFINISHED
    if (rest > 0) onEvent({ type: 'warning', message: `${rest} older solutions in ${folder} are left to later starts` })
    return all.slice(-MAX_UNFINISHED).map(asUnfinished)
  }
  const keep = keeperOf({ journal, network, account, nowMs })
  /** Hashes of this run's solutions while the journal is unread, or null once it was read. */
  const ofThisRun = content === null ? new Set<string>() : null
  const left = async (signal: AbortSignal) => {
    if (ofThisRun === null) return []
    const late = await readLate(read, clock, signal)
    const earlier = ownOf(late?.records ?? new Map()).filter(({ hash }) => !ofThisRun.has(hash))
    for (const record of earlier) onEarlier(record)
    const unfinished = unfinishedOf(earlier)
    if (late !== null) {
      const { length } = unfinished
      const solutions = length === 1 ? 'solution' : 'solutions'
      const message = `the journal in ${folder} can be read now, with ${length} ${solutions} of earlier runs to settle`
      onEvent({ type: 'recovered', message })
      tellDamaged(late.damaged)
    }
    return unfinished
  }
  const own = ownOf(records)
  for (const record of own) onEarlier(record)
  return {
    folder,
    unfinished: unfinishedOf(own),
    left,
    recent: own.slice(-MAX_RECENT),
    unpaid: own.filter(({ state, reward }) => state === 'confirmed' && reward === null).map(({ hash }) => hash),
    onEvent: (event) => {
      if (event.type === 'solution' && event.step === 'found') ofThisRun?.add(event.hash)
      keep(event)
    },
  }
}

/** Retries until the journal can be read. @returns null if the signal aborts first */
async function readLate(
  read: () => Promise<JournalContent>,
  clock: Clock,
  signal: AbortSignal,
): Promise<JournalContent | null> {
  for (;;) {
    await sleep(clock, RETRY_MS, signal)
    if (signal.aborted) return null
    try {
      const content = await read()
      return signal.aborted ? null : content
    } catch (error) {
      // The user has been told already.
      if (!(error instanceof NewcutError)) throw error
    }
  }
}

function asUnfinished(record: BlockRecord): Unfinished {
  const { work, issuer, device, effort, foundAt, state } = record
  const isAcknowledged = wasTaken(state)
  const bytes = decodeBase64Url(work)
  return { bytes, issuer, device, effort, foundAtMs: Date.parse(foundAt), isAcknowledged, verdict: verdictOf(state) }
}
