/**
 * The payout journal on disk: a sealed log. `append` returns once its lines are synced to disk, so an action that
 * follows, such as sending a transaction, is always journaled.
 */
import { join } from 'node:path'
import { describeError, NewcutError, operatingError } from '#ground/base/errors.ts'
import { LogDamage, type LogDisk, type LogFiles, readLog, SealedLog } from '#ground/base/sealed-log.ts'
import { payoutErrors } from './errors.ts'
import { type PayoutLine, parsePayoutLine } from './payout-line.ts'

/** The journal file in a state folder. */
export const payoutFile = (folder: string) => join(folder, 'payouts.jsonl')

const filesIn = (folder: string, disk: LogDisk | undefined): LogFiles => ({
  path: payoutFile(folder),
  endPath: join(folder, 'payouts.end'),
  ...(disk !== undefined && { disk }),
})

/** The lines of a journal, and how many of them no seal covers. */
export interface PayoutLines {
  readonly lines: readonly PayoutLine[]
  readonly unsealed: number
}

/**
 * Reads a journal; empty if there is no file. An unfinished last line is ignored: its process died, and nothing
 * followed from it.
 * @throws NewcutError DATA_UNUSABLE if the journal is damaged
 */
export function readPayoutFile(folder: string, disk?: LogDisk): PayoutLines {
  const files = filesIn(folder, disk)
  try {
    const { lines, chain } = readLog(files)
    return { lines: parseLines(files.path, lines), unsealed: chain.unsealed }
  } catch (error) {
    if (error instanceof LogDamage) throw damagedJournalError(error)
    if (error instanceof NewcutError) throw error
    throw operatingError(payoutErrors.unreadableJournal, { path: files.path, why: describeError(error) }, error)
  }
}

/** The lines of a journal, as readPayoutFile reads them. */
export const readPayouts = (folder: string) => readPayoutFile(folder).lines

const parseLines = (path: string, lines: readonly string[]) =>
  lines.map((text, i) => {
    const line = parsePayoutLine(text)
    if (line === null) throw damagedLineError(path, i + 1)
    return line
  })

/**
 * The error of a damaged line.
 * @param line line number in the file
 * @param reason the fault, if it is known
 */
export function damagedLineError(path: string, line: number, reason?: string): NewcutError {
  const why = reason === undefined ? '' : `${reason}; `
  return operatingError(payoutErrors.damagedLine, { path, line, why })
}

/** The same error for damage that a seal shows. */
export const damagedJournalError = ({ path, line, reason }: LogDamage) => damagedLineError(path, line, reason)

/** A journal open for appending. lock.ts allows one process at a time. */
export class PayoutJournal {
  /** The lines when it was opened. */
  readonly content: PayoutLines
  readonly #path: string
  readonly #log: SealedLog
  readonly #nowMs: () => number

  private constructor(path: string, log: SealedLog, nowMs: () => number) {
    const { lines, chain } = log.content
    this.content = { lines: parseLines(path, lines), unsealed: chain.unsealed }
    this.#path = path
    this.#log = log
    this.#nowMs = nowMs
  }

  /**
   * Creates folder and file if they are missing.
   * @throws NewcutError DATA_UNUSABLE if the journal is damaged, or cannot be written
   */
  static open(folder: string, nowMs: () => number, disk?: LogDisk): PayoutJournal {
    const files = filesIn(folder, disk)
    let log: SealedLog | null = null
    try {
      log = SealedLog.open(files)
      return new PayoutJournal(files.path, log, nowMs)
    } catch (error) {
      log?.close()
      throw writeError(files.path, error)
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
    try {
      this.#log.append(lines.map((line) => JSON.stringify(line)))
    } catch (error) {
      throw writeError(this.#path, error)
    }
  }

  close(): void {
    this.#log.close()
  }
}

function writeError(path: string, error: unknown): unknown {
  if (error instanceof LogDamage) return damagedJournalError(error)
  if (error instanceof NewcutError) return error
  return operatingError(payoutErrors.unwritableJournal, { path, why: describeError(error) }, error)
}
