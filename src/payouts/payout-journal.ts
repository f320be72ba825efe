/**
 * The payout journal on disk: an append-only file of lines. `append` returns once its lines are synced to disk, so an
 * action that follows, such as sending a transaction, is always journaled.
 */
import { closeSync, fsyncSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describeError, NewcutError } from '../base/errors.ts'
import { type PayoutLine, parsePayoutLine } from './payout-line.ts'

const NEWLINE = 0x0a

/** The journal file in a state folder. */
export const payoutFile = (folder: string) => join(folder, 'payouts.jsonl')

/**
 * Reads a journal; empty if there is no file. An unfinished last line is ignored: its process died, and nothing
 * followed from it.
 * @throws NewcutError DATA_UNUSABLE if the journal is damaged
 */
export function readPayouts(folder: string): PayoutLine[] {
  const path = payoutFile(folder)
  return textOf(path)
    .split('\n')
    .slice(0, -1)
    .map((text, i) => parsePayoutLine(text) ?? damaged(path, i + 1))
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new NewcutError('DATA_UNUSABLE', `${path}: cannot be read: ${describeError(error)}`, { cause: error })
  }
}

/**
 * @param line line number in the file
 * @throws NewcutError DATA_UNUSABLE, always
 */
export function damaged(path: string, line: number): never {
  throw new NewcutError('DATA_UNUSABLE', `${path}: line ${line} is damaged, and it may be a payment`, {
    hint: 'restore it from a copy that has all later lines too: payments missing there would be made twice',
  })
}

/** A journal open for appending. lock.ts allows one process at a time. */
export class PayoutJournal {
  readonly #path: string
  readonly #file: number
  readonly #nowMs: () => number

  private constructor(path: string, file: number, nowMs: () => number) {
    this.#path = path
    this.#file = file
    this.#nowMs = nowMs
  }

  /**
   * Creates folder and file if they are missing.
   * @throws NewcutError DATA_UNUSABLE if they cannot be written
   */
  static open(folder: string, nowMs: () => number): PayoutJournal {
    const path = payoutFile(folder)
    try {
      mkdirSync(folder, { recursive: true })
      const file = openSync(path, 'a+', 0o600)
      const journal = new PayoutJournal(path, file, nowMs)
      syncFolder(dirname(path))
      cutTorn(path, file)
      return journal
    } catch (error) {
      throw unwritable(path, error)
    }
  }

  /** The current time in the format of journal lines. */
  now(): string {
    return new Date(this.#nowMs()).toISOString()
  }

  /**
   * Returns once the lines are synced to disk.
   * @throws NewcutError DATA_UNUSABLE; then the caller must not act on the lines
   */
  append(...lines: readonly PayoutLine[]): void {
    if (lines.length === 0) return
    try {
      writeAll(this.#file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      fsyncSync(this.#file)
    } catch (error) {
      throw unwritable(this.#path, error)
    }
  }

  close(): void {
    closeSync(this.#file)
  }
}

function unwritable(path: string, error: unknown): unknown {
  if (error instanceof NewcutError) return error
  return new NewcutError(
    'DATA_UNUSABLE',
    `${path}: the journal of payouts cannot be written: ${describeError(error)}`,
    {
      hint: 'newcut pays nothing that is not in it; set --state DIR to another folder',
      cause: error,
    },
  )
}

/** Removes an unfinished last line. */
function cutTorn(path: string, file: number): void {
  const bytes = readFileSync(path)
  const end = bytes.lastIndexOf(NEWLINE) + 1
  if (end === bytes.length) return
  ftruncateSync(file, end)
  fsyncSync(file)
}

function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
}

/** Syncs the folder, so that the name of a new file is on disk. */
function syncFolder(folder: string): void {
  // Windows cannot open folders; syncing the file is enough there.
  if (process.platform === 'win32') return
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
