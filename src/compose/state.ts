/** Opens the journal of a miner and reads the unsettled solutions of earlier runs. */
import { decodeBase64Url } from '#ground/base/bytes.ts'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { describeError, NewcutError } from '#ground/base/errors.ts'
import { verdictOf, wasReceived } from '#ground/chain/solution.ts'
import { type Disk, systemDisk } from '#mining/journal/disk.ts'
import { type EarlierOptions, noEarlierRuns, type PreviousRuns, readEarlierRuns } from '#mining/journal/earlier.ts'
import { Journal, type JournalEvents } from '#mining/journal/journal.ts'
import { journalListener } from '#mining/journal/journal-listener.ts'
import type { BlockRecord } from '#mining/journal/record.ts'
import type { OwnBlock, OwnBlockSums } from '#mining/mine/earnings.ts'
import type { MinerEvent } from '#mining/mine/events.ts'
import type { UnfinishedSolution } from '#mining/mine/solution-steps.ts'

export interface StateSetup {
  /** Folder of the journal. */
  readonly folder: string
  /**
   * Whether the user named the folder. An unusable folder is then an error. Otherwise the miner mines, keeps retrying,
   * and keeps no journal for development networks.
   */
  readonly isRequired: boolean
}

export interface OpenState {
  readonly folder: string
  readonly unfinished: readonly UnfinishedSolution[]
  /**
   * Resolves with the unsettled solutions of an unreadable journal once it becomes readable. Resolves with an empty
   * list if the journal was readable at the start, and when the signal aborts.
   */
  readonly readLater: (signal: AbortSignal) => Promise<readonly UnfinishedSolution[]>
  /** The newest solutions of earlier runs on the network, oldest first. */
  readonly recent: readonly BlockRecord[]
  /** Hashes of confirmed, unfinished blocks of earlier runs whose reward is unknown. */
  readonly unpaid: readonly string[]
  readonly onEvent: (event: MinerEvent) => void
}

export interface StateOptions {
  readonly network: string
  readonly account: string
  readonly confirmations: number
  readonly clock: Clock
  readonly onEvent: (event: MinerEvent) => void
  /**
   * Once the journal was read, receives the unfinished and the newest solutions of earlier runs on the network, oldest
   * first. Default: nobody.
   */
  readonly onEarlier?: (block: OwnBlock) => void
  /** Receives the sums of their other solutions. Default: ignored. */
  readonly onEarlierSums?: (sums: OwnBlockSums) => void
  /** Default: the file system of this machine. */
  readonly disk?: Disk
  /** Bytes after the index of the journal from which it is written again. Tests lower it. */
  readonly maxUnindexedBytes?: number
}

/** Retry interval of an unreadable journal. */
const RETRY_MS = 2_000

/**
 * Opens the journal. The miner continues despite disk errors, with whatever it can read and write, unless the journal
 * is required.
 * @throws NewcutError BAD_OPTION or BAD_INPUT for a required journal that is unusable
 */
export async function openState({ folder, isRequired }: StateSetup, options: StateOptions): Promise<OpenState> {
  const { network, account, confirmations, clock, onEvent, disk = systemDisk } = options
  const nowMs = () => clock.wallMs()
  const orElse = <T>(error: unknown, otherwise: T): T => {
    if (isRequired) throw error
    onEvent({ type: 'warning', message: `${describeError(error)}; mining continues, and newcut keeps trying` })
    return otherwise
  }
  const reading: EarlierOptions = {
    network,
    confirmations,
    disk,
    maxUnindexedBytes: options.maxUnindexedBytes,
    onUnsaved: (why) => {
      const message = `the index of the journal in ${folder} cannot be written, so starts read all of it: ${why}`
      onEvent({ type: 'warning', message })
    },
  }
  const earlier = await readEarlierRuns(folder, reading).catch((error) => orElse<PreviousRuns | null>(error, null))
  const journal = journalIn(folder, { onEvent, disk, orElse })
  const reportPrevious = ({ unfinished, left, damaged, tracked, untracked }: PreviousRuns) => {
    options.onEarlierSums?.(untracked)
    for (const block of tracked) options.onEarlier?.(block)
    const warn = (message: string) => onEvent({ type: 'warning', message })
    if (damaged > 0) warn(`the journal in ${folder} has ${damaged} unreadable lines`)
    if (left > 0) warn(`${left} older solutions in ${folder} are left to later starts`)
    return unfinished.map(asUnfinished)
  }
  const keep = journalListener({ journal, network, account, nowMs })
  /** Hashes of this run's solutions while the journal is unread, or null once it was read. */
  const ofThisRun = earlier === null ? new Set<string>() : null
  const readLater = async (signal: AbortSignal) => {
    if (ofThisRun === null) return []
    const late = await readLate(() => readEarlierRuns(folder, { ...reading, except: ofThisRun }), clock, signal)
    if (late === null) return []
    const { length } = late.unfinished
    const solutions = length === 1 ? 'solution' : 'solutions'
    const message = `the journal in ${folder} can be read now, with ${length} ${solutions} of earlier runs to settle`
    onEvent({ type: 'recovered', message })
    return reportPrevious(late)
  }
  const { unfinished, recent } = earlier ?? noEarlierRuns
  return {
    folder,
    unfinished: reportPrevious(earlier ?? noEarlierRuns),
    readLater,
    recent,
    // Only unfinished blocks are confirmed once more, and only then is a reward read.
    unpaid: unfinished.flatMap(({ state, reward, hash }) => (state === 'confirmed' && reward === null ? [hash] : [])),
    onEvent: (event) => {
      if (event.type === 'solution' && event.step === 'found') ofThisRun?.add(event.hash)
      keep(event)
    },
  }
}

interface JournalPorts extends Pick<StateOptions, 'onEvent'> {
  readonly disk: Disk
  /** @throws the error, or returns the other value */
  readonly orElse: <T>(error: unknown, otherwise: T) => T
}

function journalIn(folder: string, { onEvent, disk, orElse }: JournalPorts): Journal {
  const events: JournalEvents = {
    onTrouble: (message) => onEvent({ type: 'trouble', message }),
    onRecovered: (message) => onEvent({ type: 'recovered', message }),
  }
  try {
    return Journal.open(folder, events, disk)
  } catch (error) {
    // The disk may have recovered by the next solution.
    return orElse(error, Journal.openLater(folder, events, disk))
  }
}

/** Retries until the journal can be read. @returns null if the signal aborts first */
async function readLate(
  read: () => Promise<PreviousRuns>,
  clock: Clock,
  signal: AbortSignal,
): Promise<PreviousRuns | null> {
  for (;;) {
    await sleep(clock, RETRY_MS, signal)
    if (signal.aborted) return null
    try {
      const content = await read()
      return signal.aborted ? null : content
    } catch (error) {
      // The user knows the error already.
      if (!(error instanceof NewcutError)) throw error
    }
  }
}

function asUnfinished(record: BlockRecord): UnfinishedSolution {
  const { work, issuer, device, effort, foundAt, state } = record
  const isAcknowledged = wasReceived(state)
  const bytes = decodeBase64Url(work)
  return { bytes, issuer, device, effort, foundAtMs: Date.parse(foundAt), isAcknowledged, verdict: verdictOf(state) }
}
