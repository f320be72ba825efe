/**
 * The journal of solutions on disk: files of lines (record.ts), one a month, that are only ever appended to. A line is
 * with the operating system before anything else happens to its solution, so it survives the death of the process; it
 * is on the disk soon after.
 */
import {
  closeSync,
  createReadStream,
  fdatasync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describeError, NewcutError } from '../core/errors.ts'
import { afterLine, type BlockRecord, type Line, parseLine } from './record.ts'

const FILE = /^blocks-\d{4}-\d\d\.jsonl$/
const NEWLINE = 0x0a

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

export class Journal {
  readonly folder: string
  readonly #events: JournalEvents
  #isFailing = false
  /** Whether the last line of the file may be incomplete. */
  #isTorn = true

  private constructor(folder: string, events: JournalEvents) {
    this.folder = folder
    this.#events = events
  }

  /** Makes the folder. Throws NewcutError BAD_OPTION where nothing can be written there. */
  static open(folder: string, events: JournalEvents): Journal {
    try {
      mkdirSync(folder, { recursive: true })
      closeSync(openSync(join(folder, fileOf(new Date().toISOString())), 'a'))
    } catch (error) {
      throw new NewcutError('BAD_OPTION', `the journal cannot be kept in ${folder}: ${describeError(error)}`, {
        hint: '--state DIR names another folder, --state off keeps none',
        cause: error,
      })
    }
    return new Journal(folder, events)
  }

  /** Appends a line. A failure is told, and never thrown: mining goes on. */
  append(line: Line): void {
    try {
      this.#write(join(this.folder, fileOf(line.at)), `${JSON.stringify(line)}\n`)
    } catch (error) {
      this.#isTorn = true
      if (!this.#isFailing) {
        const what = `the journal cannot be written: ${describeError(error)}`
        this.#events.onTrouble(`${what}; solutions are handed in all the same, but a crash may lose them`)
      }
      this.#isFailing = true
      return
    }
    if (this.#isFailing) this.#events.onRecovered('the journal can be written again')
    this.#isFailing = false
  }

  /** Throws what the system says. */
  #write(path: string, text: string): void {
    // Opened for each line: a file that somebody moved away or deleted is simply begun anew.
    const file = openSync(path, 'a+')
    try {
      const isTorn = this.#isTorn && !endsWithNewline(file)
      const bytes = Buffer.from(isTorn ? `\n${text}` : text)
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
      this.#isTorn = false
    } catch (error) {
      closeSync(file)
      throw error
    }
    // Not waited for: a solution is worth more the sooner it arrives. A failure shows at the next line.
    fdatasync(file, () => closeSync(file))
  }
}

/** Reads all files of a folder; none when there is no such folder. Throws NewcutError BAD_INPUT. */
export async function readJournal(folder: string): Promise<JournalContent> {
  const records = new Map<string, BlockRecord>()
  let damaged = 0
  try {
    for (const name of namesIn(folder)) {
      const lines = createInterface({
        input: createReadStream(join(folder, name)),
        crlfDelay: Number.POSITIVE_INFINITY,
      })
      for await (const text of lines) {
        if (text === '') continue
        const line = parseLine(text)
        const record = line && afterLine(records.get(line.hash), line)
        if (record) records.set(record.hash, record)
        else damaged++
      }
    }
  } catch (error) {
    throw new NewcutError('BAD_INPUT', `the journal in ${folder} cannot be read: ${describeError(error)}`, {
      cause: error,
    })
  }
  return { records, damaged }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => FILE.test(name))
      .sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

const fileOf = (at: string) => `blocks-${at.slice(0, 7)}.jsonl`

function endsWithNewline(file: number): boolean {
  const { size } = fstatSync(file)
  if (size === 0) return true
  const last = Buffer.alloc(1)
  readSync(file, last, 0, 1, size - 1)
  return last[0] === NEWLINE
}
