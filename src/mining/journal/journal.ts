/**
 * Journal of solutions on disk: one append-only file of lines (record.ts) per month.
 *
 * Each line reaches the operating system before its solution advances, so it survives a crash of the process; the flush
 * to disk follows soon. Lines that cannot be written stay in memory and are retried with the next line.
 */
import { join } from 'node:path'
import { describeError, operatingError } from '#ground/base/errors.ts'
import { type Disk, type DiskFile, systemDisk } from './disk.ts'
import { journalErrors } from './errors.ts'
import { sealJournalLine } from './line-seal.ts'
import type { JournalLine } from './record.ts'

const NEWLINE = 0x0a
/** Maximum number of lines kept in memory while writes fail; the oldest are dropped. A solution has about ten lines. */
const MAX_QUEUED = 10_000

export interface JournalEvents {
  /** Called once per outage when a line cannot be written. */
  readonly onTrouble: (message: string) => void
  readonly onRecovered: (message: string) => void
}

/** A line and the name of its file. */
interface QueuedLine {
  readonly name: string
  readonly bytes: Uint8Array
}

export class Journal {
  readonly folder: string
  readonly #events: JournalEvents
  readonly #disk: Disk
  /** Lines to be written, oldest first. */
  readonly #queue: QueuedLine[] = []
  #isFailing = false
  /** True if the last line of the file may be incomplete. */
  #isTorn = true
  /** Files being synced. `isDue` is set when lines arrive meanwhile, so that a slow disk gets one call at a time. */
  readonly #syncing = new Map<string, { isDue: boolean }>()

  private constructor(folder: string, events: JournalEvents, disk: Disk) {
    this.folder = folder
    this.#events = events
    this.#disk = disk
  }

  /**
   * Opens the journal and creates its folder.
   * @throws NewcutError BAD_OPTION if the folder is not writable
   */
  static open(folder: string, events: JournalEvents, disk: Disk = systemDisk): Journal {
    try {
      disk.makeFolder(folder)
      disk.open(join(folder, fileOf(new Date(Date.now()).toISOString()))).close()
    } catch (error) {
      throw operatingError(journalErrors.unwritable, { folder, why: describeError(error) }, error)
    }
    return new Journal(folder, events, disk)
  }

  /** A journal whose folder cannot be opened, as the caller has reported. Every line retries. */
  static openLater(folder: string, events: JournalEvents, disk: Disk = systemDisk): Journal {
    const journal = new Journal(folder, events, disk)
    journal.#isFailing = true
    return journal
  }

  /** Appends a line. Never throws: on failure it reports through `onTrouble`, keeps the line and retries later. */
  append(line: JournalLine): void {
    this.#queue.push({ name: fileOf(line.at), bytes: sealJournalLine(JSON.stringify(line)) })
    if (this.#queue.length > MAX_QUEUED) this.#queue.shift()
    try {
      while (this.#queue.length > 0) this.#write(this.#queue[0].name)
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
      this.#events.onTrouble(`${what}; newcut still submits solutions, but a crash may lose them`)
    }
    this.#isFailing = true
  }

  /**
   * Writes the queued lines of this file.
   * @throws the error of the file system; lines written before it stay written
   */
  #write(name: string): void {
    const path = join(this.folder, name)
    // Open the file each time: if someone moves or deletes it, a new one starts.
    const file = this.#open(path)
    try {
      for (let next = this.#queue[0]; next?.name === name; next = this.#queue[0]) {
        if (this.#isTorn && !endsWithNewline(file)) appendAll(file, Uint8Array.of(NEWLINE))
        appendAll(file, next.bytes)
        this.#isTorn = false
        this.#queue.shift()
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

  /** Syncs without blocking: a solution must reach its issuer as soon as possible. */
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

const fileOf = (at: string) => `blocks-${at.slice(0, 7)}.jsonl`

function endsWithNewline(file: DiskFile): boolean {
  const last = file.lastByte()
  return last === null || last === NEWLINE
}

function appendAll(file: DiskFile, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += file.append(bytes, done)
}

/** Ignores errors of the file system on close: a write or sync has reported them before, or the next line will. */
function closeQuietly(file: DiskFile): void {
  try {
    file.close()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
  }
}
