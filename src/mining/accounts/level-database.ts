/** Opens the LevelDB of a share log. */
import { join } from 'node:path'
import { ClassicLevel, type IteratorOptions } from 'classic-level'
import { describeError, type NewcutError, operatingError } from '#ground/base/errors.ts'
import { readUserText } from '#ground/base/user-file.ts'
import { shareErrors } from './errors.ts'

/** The part of LevelDB that the share log uses, with text keys and values. Tests replace it with failing disks. */
export type ShareDatabase = Pick<
  ClassicLevel<string, string>,
  'batch' | 'get' | 'getMany' | 'put' | 'iterator' | 'snapshot' | 'clear' | 'close'
>

export type DatabaseOpener = (folder: string) => Promise<ShareDatabase>

/** @throws NewcutError DATA_UNUSABLE if it is in use, damaged, or not a writable folder */
export const openShareDatabase: DatabaseOpener = async (folder) => {
  const database = new ClassicLevel<string, string>(folder, { keyEncoding: 'utf8', valueEncoding: 'utf8' })
  try {
    await database.open()
  } catch (error) {
    throw shareLogError(folder, error)
  }
  return database
}

/** The error of a share log for one of LevelDB: in use, damaged, or not a writable folder. */
export function shareLogError(folder: string, error: unknown): NewcutError {
  const reason = (error as { readonly cause?: unknown }).cause ?? error
  const { code } = reason as { readonly code?: string }
  if (code === 'LEVEL_LOCKED') return operatingError(shareErrors.logInUse, { folder }, error)
  if (code === 'LEVEL_CORRUPTION') return damagedLog(folder, describeError(reason), error)
  return operatingError(shareErrors.logUnusable, { folder, why: describeError(reason) }, error)
}

/**
 * The error of a damaged share log.
 * @param reason as the end of a sentence
 */
export function damagedLog(folder: string, reason: string, cause?: unknown): NewcutError {
  return operatingError(shareErrors.logDamaged, { folder, why: reason }, cause)
}

/** Key of the record of data that LevelDB has dropped as damaged. */
export const LOSS = 'm/loss'

/** Data that LevelDB has dropped as damaged. */
export interface DroppedData {
  /** When it was noticed: Unix time in milliseconds. */
  readonly atMs: number
  readonly bytes: number
  readonly reason: string
}

/** LevelDB reports lost data only in its LOG file, which it replaces at each opening. */
const DROPPED = /dropping (\d+) bytes; Corruption: ([^\n]*)/

/**
 * The data that LevelDB dropped as damaged when it was opened last.
 * @returns null if it dropped none, or there is no LOG file
 */
export function droppedAtOpening(folder: string): { readonly bytes: number; readonly reason: string } | null {
  let text: string
  try {
    text = readUserText(join(folder, 'LOG'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  const [, bytes, reason] = DROPPED.exec(text) ?? []
  return bytes === undefined ? null : { bytes: Number(bytes), reason }
}

/** Entries read at once. */
const CHUNK = 1_000

type Range = IteratorOptions<string, string>

/** The entries of a range. @throws NewcutError DATA_UNUSABLE if they cannot be read */
export async function* chunksOf(
  database: ShareDatabase,
  range: Range,
  folder: string,
): AsyncGenerator<[key: string, value: string][]> {
  const iterator = database.iterator(range)
  try {
    for (;;) {
      const entries = await iterator.nextv(CHUNK).catch((error: unknown) => {
        throw shareLogError(folder, error)
      })
      if (entries.length === 0) return
      yield entries
    }
  } finally {
    await iterator.close()
  }
}
