/** Reads a journal of any length: a table in memory, records from the disk when they are wanted. */
import { describeError, NewcutError, operatingError } from '#ground/base/errors.ts'
import { CHECKPOINT_NAME, loadCheckpoint, saveCheckpoint } from './checkpoint.ts'
import { type Disk, systemDisk } from './disk.ts'
import { journalErrors } from './errors.ts'
import { JournalLines } from './journal-lines.ts'
import { applyLine, type BlockRecord, parseLine } from './record.ts'
import type { RecordTable } from './record-table.ts'
import { JournalScan, listJournalFiles } from './scan.ts'

/** A journal without an index may have this many bytes after it: they are read in a tenth of a second. */
const MAX_UNINDEXED_BYTES = 1 << 25

export interface ReadingOptions {
  /** Default: the file system of this machine. */
  readonly disk?: Disk | undefined
  /** Whether to use the index of the journal. Default: true. */
  readonly usesIndex?: boolean
  /**
   * Called with an error text if the index could not be written. Without it, no index is written.
   */
  readonly onUnsaved?: ((why: string) => void) | undefined
  /** Newcut rewrites the index once more bytes than this follow it. Tests lower it. */
  readonly maxUnindexedBytes?: number | undefined
}

/** Content of all journal files in a folder. */
export interface JournalContent {
  /** A row for each solution, oldest first. */
  readonly table: RecordTable
  /** Lines that are damaged, or whose solution is missing. */
  readonly damaged: number
  /** Whether a part of the table comes from the index. */
  readonly isIndexed: boolean
  /**
   * Reads these records, one by one.
   * @throws NewcutError BAD_INPUT if a file cannot be read or has changed
   */
  readonly records: (rows: Iterable<number>) => Generator<BlockRecord>
}

/**
 * Reads all journal files of a folder. A missing folder counts as empty.
 * @throws NewcutError BAD_INPUT
 */
export async function readJournal(folder: string, reading: ReadingOptions = {}): Promise<JournalContent> {
  const { disk = systemDisk, usesIndex = true, onUnsaved, maxUnindexedBytes = MAX_UNINDEXED_BYTES } = reading
  try {
    const names = listJournalFiles(folder, disk)
    const before = usesIndex ? loadCheckpoint(folder, disk, names) : null
    const scan = new JournalScan(disk, folder, before)
    await scan.read(names.slice(before === null ? 0 : Math.max(0, before.files.length - 1)))
    const { table } = scan.scanned
    if (onUnsaved !== undefined && scan.bytes > maxUnindexedBytes) {
      try {
        saveCheckpoint(folder, disk, scan.scanned)
      } catch (error) {
        onUnsaved(describeError(error))
      }
    }
    const damaged = scan.finish()
    const files = scan.scanned.files.map(({ name }) => name)
    const records = (rows: Iterable<number>) => recordsIn(table, new JournalLines(disk, folder, files), rows, folder)
    return { table, damaged, isIndexed: before !== null, records }
  } catch (error) {
    throw unreadableError(folder, error)
  }
}

function* recordsIn(
  table: RecordTable,
  reader: JournalLines,
  rows: Iterable<number>,
  folder: string,
): Generator<BlockRecord> {
  for (const row of rows) {
    let record: BlockRecord | null = null
    try {
      const hash = table.hashOf(row)
      for (const at of table.linesOf(row)) {
        const line = parseLine(reader.line(at))
        record = line?.hash === hash ? applyLine(record ?? undefined, line) : null
        if (record === null) throw changedError(folder)
      }
    } catch (error) {
      throw unreadableError(folder, error)
    }
    if (record !== null) yield record
  }
}

const changedError = (folder: string) => operatingError(journalErrors.changed, { folder, index: CHECKPOINT_NAME })

function unreadableError(folder: string, error: unknown): NewcutError {
  if (error instanceof NewcutError) return error
  return operatingError(journalErrors.unreadable, { folder, why: describeError(error) }, error)
}
