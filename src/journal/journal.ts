/**
 * The journal of solutions on disk: files of lines (record.ts), one a month, that are only ever appended to. A line is
 * with the operating system before anything else happens to its solution, so it survives the death of the process; it
 * is on the disk soon after. Lines that a disk does not take are kept, and written before the next one that it takes.
 */
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describeError, NewcutError } from '../core/errors.ts'
import { type Disk, type DiskFile, systemDisk } from './disk.ts'
import { afterLine, type BlockRecord, type Line, parseLine } from './record.ts'

const FILE = /^blocks-\d{4}-\d\d\.jsonl$/
const NEWLINE = 0x0a
/** Most lines that are kept while none can be written; the oldest are given up. A solution has some ten of them. */
const MAX_KEPT = 10_000

export interface JournalEvents {
  /** A line could not be written. Said once, until one can be written again. */
  readonly onTrouble: (message: string) => void
  readonly onRecovered: (message: string) => void
}

/** What the files of a folder hold. */
export interface JournalContent {
  /** By block hash, oldest first. */
  readonly records: ReadonlyMap<string, BlockRecord>
  /** Lines that could not be read, or whose solution is missing. */
  readonly damaged: number
}

/** A line, and the name of the file that it goes into. */
interface KeptLine {
  readonly name: string
  readonly text: string
}

export class Journal {
  readonly folder: string
  readonly #events: JournalEvents
  readonly #disk: Disk
  /** Lines that are to be written, oldest first. */
  readonly #lines: KeptLine[] = []
  #isFailing = false
  /** Whether the last line of the file may be incomplete. */
  #isTorn = true
  /** Files that are being synced, and whether lines have come since that began: a slow disk gets one call at a time. */
  readonly #syncing = new Map<string, { isDue: boolean }>()

  private constructor(folder: string, events: JournalEvents, disk: Disk) {
    this.folder = folder
    this.#events = events
    this.#disk = disk
  }

  /** Makes the folder. Throws NewcutError BAD_OPTION where nothing can be written there. */
  static open(folder: string, events: JournalEvents, disk: Disk = systemDisk): Journal {
    try {
      disk.makeFolder(folder)
      disk.open(join(folder, fileOf(new Date(Date.now()).toISOString()))).close()
    } catch (error) {
      throw new NewcutError('BAD_OPTION', `cannot write the journal in ${folder}: ${describeError(error)}`, {
        hint: 'set --state DIR to another folder, or mine without a journal with --state off',
        cause: error,
      })
    }
    return new Journal(folder, events, disk)
  }

  /** A journal that cannot be opened, as its user knows: it is tried anew at every line. */
  static later(folder: string, events: JournalEvents, disk: Disk = systemDisk): Journal {
    const journal = new Journal(folder, events, disk)
    journal.#isFailing = true
    return journal
  }

  /** Appends a line. A failure is told, and never thrown: mining goes on, and the line is written later if it can be. */
  append(line: Line): void {
    this.#lines.push({ name: fileOf(line.at), text: `${JSON.stringify(line)}\n` })
    if (this.#lines.length > MAX_KEPT) this.#lines.shift()
    try {
      while (this.#lines.length > 0) this.#write(this.#lines[0].name)
    } catch (error) {
      this.#isTorn = true
      this.#fail(`the journal cannot be written: ${describeError(error)}`)
      return
    }
    if (this.#isFailing) this.#events.onRecovered('the journal can be written again')
    this.#isFailing = false
  }

  #fail(what: string): void {
    if (!this.#isFailing) {
      this.#events.onTrouble(`${what}; solutions are handed in all the same, but a crash may lose them`)
    }
    this.#isFailing = true
  }

  /** Writes the next lines that go into this file. Throws what the system says; what was written by then is. */
  #write(name: string): void {
    const path = join(this.folder, name)
    // Opened anew each time: a file that somebody moved away or deleted is simply begun anew.
    const file = this.#open(path)
    try {
      for (let next = this.#lines[0]; next?.name === name; next = this.#lines[0]) {
        appendAll(file, this.#isTorn && !endsWithNewline(file) ? `\n${next.text}` : next.text)
        this.#isTorn = false
        this.#lines.shift()
      }
    } catch (error) {
      closeQuietly(file)
      throw error
    }
    this.#sync(path, file)
  }

  #open(path: string): DiskFile {
    if (this.#isFailing) this.#disk.makeFolder(this.folder)
    return this.#disk.open(path)
  }

  /** Not waited for: a solution is worth more the sooner it arrives. */
  #sync(path: string, file: DiskFile): void {
    const before = this.#syncing.get(path)
    if (before !== undefined) {
      before.isDue = true
      closeQuietly(file)
      return
    }
    const own = { isDue: false }
    this.#syncing.set(path, own)
    file.sync((error) => {
      closeQuietly(file)
      this.#syncing.delete(path)
      if (error !== null) this.#fail(`the journal does not get onto its disk: ${describeError(error)}`)
      else if (own.isDue) this.#syncAgain(path)
    })
  }

  #syncAgain(path: string): void {
    try {
      this.#sync(path, this.#disk.open(path))
    } catch (error) {
      this.#fail(`the journal does not get onto its disk: ${describeError(error)}`)
    }
  }
}

/** Reads all files of a folder; none when there is no such folder. Throws NewcutError BAD_INPUT. */
export async function readJournal(folder: string, disk: Disk = systemDisk): Promise<JournalContent> {
  const records = new Map<string, BlockRecord>()
  let damaged = 0
  /** Those before the first line of their solution: the clock was set back, so that they are in the file of an earlier month. */
  const early: Line[] = []
  const take = (line: Line) => {
    const record = afterLine(records.get(line.hash), line)
    if (record) records.set(record.hash, record)
    return record !== null
  }
  try {
    for (const name of namesIn(folder, disk)) {
      const input = disk.read(join(folder, name))
      for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
        if (text === '') continue
        const line = parseLine(text)
        if (line === null) damaged++
        else if (!take(line)) early.push(line)
      }
    }
    for (const line of early) if (!take(line)) damaged++
  } catch (error) {
    throw new NewcutError('BAD_INPUT', `the journal in ${folder} cannot be read: ${describeError(error)}`, {
      cause: error,
    })
  }
  return { records, damaged }
}

function namesIn(folder: string, disk: Disk): string[] {
  try {
    return disk
      .list(folder)
      .filter((name) => FILE.test(name))
      .sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

const fileOf = (at: string) => `blocks-${at.slice(0, 7)}.jsonl`

function endsWithNewline(file: DiskFile): boolean {
  const last = file.last()
  return last === null || last === NEWLINE
}

function appendAll(file: DiskFile, text: string): void {
  const bytes = Buffer.from(text)
  for (let done = 0; done < bytes.length; ) done += file.append(bytes, done)
}

/** What a disk says on closing was said of a write or a sync before, or is said at the next line. */
function closeQuietly(file: DiskFile): void {
  try {
    file.close()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
  }
}
