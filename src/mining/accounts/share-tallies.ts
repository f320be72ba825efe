/**
 * Tallies of the share log: number and sum of the records of each ten seconds. LevelDB does not verify the tables that
 * it reads, and a damaged one may hide records. Their tally shows that they are missing.
 *
 * Tallies are far from their records, so that no damage hides both. Logs of earlier versions have none for the records
 * of that time.
 */
import { crc32 } from 'node:zlib'
import type { ShareDatabase } from './level-database.ts'
import { rangeOf, SHARES, sealRecord, shareTimeText, TALLIES, timeOfShareKey, unsealRecord } from './share-records.ts'
import type { TimeRange } from './share-store.ts'

const TALLY_MS = 10_000
/** Tallies in memory. Shares come nearly in the order of their times. */
const MAX_KNOWN = 64

/** Number of records, and the sum of the CRC-32 of their keys modulo 2^32. */
type ShareTally = readonly [records: number, sum: number]

/** A record with its key. */
type LogEntry = readonly [key: string, value: string]
export type PutOperation = { readonly type: 'put'; readonly key: string; readonly value: string }
export type DeleteOperation = { readonly type: 'del'; readonly key: string }

/** The start of the ten seconds that a time is in. */
export const tallyStart = (timeMs: number) => Math.floor(timeMs / TALLY_MS) * TALLY_MS

/** Widens a range of times to whole tallies, which can be compared. */
export const wholeTallies = (fromMs: number, untilMs: number | undefined): TimeRange => ({
  fromMs: tallyStart(fromMs),
  ...(untilMs !== undefined && { untilMs: Math.ceil(untilMs / TALLY_MS) * TALLY_MS }),
})

const tallyKey = (startMs: number) => `${TALLIES}${shareTimeText(startMs)}`
const startOf = (key: string) => tallyStart(timeOfShareKey(key))
const addKey = ([records, sum]: ShareTally, key: string): ShareTally => [records + 1, (sum + crc32(key)) >>> 0]

/** The records of ten seconds and their tally. */
export interface TallyGroup {
  readonly startMs: number
  readonly entries: readonly LogEntry[]
  /** Undefined if the log has none, null if it is damaged. */
  readonly tally: ShareTally | null | undefined
}

/** Entries of the log in the order of their keys, or in the reverse one, in chunks. */
type EntryChunks = AsyncIterable<readonly LogEntry[]>

/**
 * Joins records with their tallies.
 * @param records with tallies of the same times, in the same order
 * @param isReverse whether the latest come first
 */
export async function* joinTallies(
  records: EntryChunks,
  tallies: EntryChunks,
  isReverse: boolean,
): AsyncGenerator<TallyGroup> {
  const groups = groupByTally(records)
  const sums = groupByTally(tallies)
  const placeOf = ({ value, done }: IteratorResult<RecordGroup>) =>
    done === true ? Infinity : isReverse ? -value.startMs : value.startMs
  try {
    let [group, sum] = await Promise.all([groups.next(), sums.next()])
    while (group.done !== true || sum.done !== true) {
      const order = placeOf(group) - placeOf(sum)
      const entries = group.done !== true && !(order > 0) ? group.value.entries : []
      const tally = sum.done !== true && !(order < 0) ? tallyOf(sum.value.entries[0][1]) : undefined
      const startMs = Math.abs(Math.min(placeOf(group), placeOf(sum)))
      yield { startMs, entries, tally }
      if (!(order > 0)) group = await groups.next()
      if (!(order < 0)) sum = await sums.next()
    }
  } finally {
    await Promise.all([groups.return(null), sums.return(null)])
  }
}

type RecordGroup = Pick<TallyGroup, 'startMs' | 'entries'>

/** Groups entries by their ten seconds. */
async function* groupByTally(chunks: EntryChunks): AsyncGenerator<RecordGroup> {
  let group: { startMs: number; entries: LogEntry[] } | null = null
  for await (const chunk of chunks) {
    for (const entry of chunk) {
      const startMs = startOf(entry[0])
      if (group !== null && group.startMs !== startMs) {
        yield group
        group = null
      }
      group ??= { startMs, entries: [] }
      group.entries.push(entry)
    }
  }
  if (group !== null) yield group
}

/**
 * Compares the records of ten seconds with their tally.
 * @param sinceMs earlier records may have no tally
 * @returns the difference as the end of a sentence, or null
 */
export function tallyProblem({ startMs, entries, tally }: TallyGroup, sinceMs: number): string | null {
  const from = `of the ten seconds from ${new Date(startMs).toISOString()}`
  if (tally === undefined) return startMs < sinceMs ? null : `the tally ${from} is missing`
  if (tally === null) return `the tally ${from} has a wrong checksum`
  const [records, sum] = sumOf(entries)
  if (records < tally[0]) return `${tally[0] - records} of ${tally[0]} records ${from} are missing`
  return records === tally[0] && sum === tally[1] ? null : `the records ${from} are not those that were written`
}

const sumOf = (entries: readonly LogEntry[]) => entries.reduce<ShareTally>((so, [key]) => addKey(so, key), [0, 0])

function tallyOf(value: string): ShareTally | null {
  const tally = unsealRecord(value)
  return Array.isArray(tally) && tally.length === 2 ? (tally as unknown as ShareTally) : null
}

const tallyPut = (startMs: number, tally: ShareTally): PutOperation => ({
  type: 'put',
  key: tallyKey(startMs),
  value: sealRecord(tally),
})

/** The tallies that a writer changes. Only one writer may use them at a time. */
export class Tallies {
  readonly #known = new Map<number, ShareTally>()

  /**
   * Adds records to their tallies.
   * @param keys of records that the log does not have yet
   * @returns the tallies, to be written together with the records
   */
  async add(database: ShareDatabase, keys: readonly string[]): Promise<PutOperation[]> {
    const changed = new Map<number, ShareTally>()
    for (const key of keys) {
      const startMs = startOf(key)
      const before = changed.get(startMs) ?? this.#known.get(startMs) ?? (await storedTally(database, startMs))
      changed.set(startMs, addKey(before, key))
    }
    for (const [startMs, tally] of changed) this.#known.set(startMs, tally)
    for (const startMs of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN) break
      this.#known.delete(startMs)
    }
    return [...changed].map(([startMs, tally]) => tallyPut(startMs, tally))
  }

  /** Forgets all, after a failed write or a removal: the next addition reads what is stored. */
  forget(): void {
    this.#known.clear()
  }
}

/** The stored tally. Without one it is counted: an earlier version may have written the records. */
async function storedTally(database: ShareDatabase, startMs: number): Promise<ShareTally> {
  const value = await database.get(tallyKey(startMs))
  return (value === undefined ? null : tallyOf(value)) ?? countTally(database, startMs, new Set())
}

async function countTally(database: ShareDatabase, startMs: number, without: ReadonlySet<string>): Promise<ShareTally> {
  const range = { gte: `${SHARES}${shareTimeText(startMs)}/`, lt: SHARES + shareTimeText(startMs + TALLY_MS) }
  let tally: ShareTally = [0, 0]
  for await (const [key] of database.iterator(range)) if (!without.has(key)) tally = addKey(tally, key)
  return tally
}

/** The removal of records, which may be in the log or not, with the tallies of those that stay. */
export async function removeRecords(
  database: ShareDatabase,
  keys: readonly string[],
): Promise<(PutOperation | DeleteOperation)[]> {
  const without = new Set(keys)
  const starts = new Set(keys.map(startOf))
  const puts = await Promise.all(
    [...starts].map(async (startMs) => tallyPut(startMs, await countTally(database, startMs, without))),
  )
  return [...keys.map((key): DeleteOperation => ({ type: 'del', key })), ...puts]
}

/** Counts all records again after LevelDB has dropped some. @returns the tallies that differ */
export async function recountTallies(groups: AsyncIterable<TallyGroup>): Promise<PutOperation[]> {
  const puts: PutOperation[] = []
  for await (const group of groups) {
    if (tallyProblem(group, 0) !== null) puts.push(tallyPut(group.startMs, sumOf(group.entries)))
  }
  return puts
}

/** The start of the first ten seconds that have a tally in a log that has none yet. */
export async function firstTallyMs(database: ShareDatabase): Promise<number> {
  for await (const [key] of database.iterator({ ...rangeOf(SHARES, {}), reverse: true, limit: 1 })) {
    return startOf(key) + TALLY_MS
  }
  return 0
}
