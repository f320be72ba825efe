/**
 * The journal of payouts on disk: one file, to which whole lines are added and nothing else. A line is on the disk itself before `append`
 * returns, so that what follows from it, such as sending a command, never happens without it.
 */
import { closeSync, fsyncSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describeError, NewcutError } from '../core/errors.ts'
import { type PayoutLine, parsePayoutLine } from './payout-line.ts'

const NEWLINE = 0x0a

/** The file in a folder for state. */
export const payoutFile = (folder: string) => join(folder, 'payouts.jsonl')

/**
 * Reads a journal; none where there is no file. What stands behind the last line feed was cut off when its process died, and
 * nothing followed from it. Throws NewcutError DATA_UNUSABLE for a journal that is damaged.
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

/** Throws NewcutError DATA_UNUSABLE. `line`: its number in the file. */
export function damaged(path: string, line: number): never {
  throw new NewcutError('DATA_UNUSABLE', `${path}: line ${line} is damaged, and it may be a payment`, {
    hint: 'restore it from a copy that has all later lines too: payments missing there would be made twice',
  })
}

/** A journal that lines are added to. One process at a time: lock.ts. */
export class PayoutJournal {
  readonly #path: string
  readonly #file: number
  readonly #nowMs: () => number

  private constructor(path: string, file: number, nowMs: () => number) {
    this.#path = path
    this.#file = file
    this.#nowMs = nowMs
  }

  /** Makes folder and file. Throws NewcutError DATA_UNUSABLE where nothing can be written. */
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

  /** The time for a line. */
  now(): string {
    return new Date(this.#nowMs()).toISOString()
  }

  /** Returns once the lines are on the disk. Throws NewcutError DATA_UNUSABLE: then nothing may follow from them. */
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

/** Takes the beginning of a line away that was never finished. */
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

/** The name of a new file is on the disk once its folder is. */
function syncFolder(folder: string): void {
  // Windows opens no folders; there the name is safe with the file.
  if (process.platform === 'win32') return
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
