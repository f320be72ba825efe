/** A LevelDB database with text keys, checksummed values, and errors that say what to do. */
import { readdir, stat } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { ClassicLevel } from 'classic-level'
import { concatBytes, readU32LE } from '#ground/base/bytes.ts'
import { describeError, type NewcutError, operatingError } from '#ground/base/errors.ts'
import { chainBytes } from '#ground/chain/work.ts'
import { damagedError, dataErrors } from './errors.ts'

export type Database = ClassicLevel<string, Uint8Array>

export interface StoredEntry {
  readonly type: 'put'
  readonly key: string
  readonly value: Uint8Array
}

const SEAL_BYTES = 4

/**
 * Opens the database at `location`. With `create` it must not exist, and is created.
 * @throws NewcutError DATA_UNUSABLE
 */
export async function openDatabase(location: string, { create }: { create: boolean }): Promise<Database> {
  if (!create) await expectDatabaseFiles(location)
  const database: Database = new ClassicLevel(location, { keyEncoding: 'utf8', valueEncoding: 'view' })
  try {
    await database.open({ createIfMissing: create, errorIfExists: create })
  } catch (error) {
    throw openingError(location, error)
  }
  return database
}

/** Whether anything exists at this path. @throws NewcutError DATA_UNUSABLE if that cannot be determined */
export async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw operatingError(dataErrors.notAccessible, { location: path, why: describeError(error) }, error)
  }
}

/** Deletes a database. @throws NewcutError DATA_UNUSABLE, also if another process has it open */
export async function destroyDatabase(location: string): Promise<void> {
  try {
    await ClassicLevel.destroy(location)
  } catch (error) {
    throw openingError(location, error)
  }
}

/**
 * Detects missing files. LevelDB notices when most of its files are missing, but takes a missing log for an empty one.
 * There is always a log: LevelDB creates the next one before it removes the last.
 */
async function expectDatabaseFiles(location: string): Promise<void> {
  let names: string[]
  try {
    names = await readdir(location)
  } catch (error) {
    throw operatingError(dataErrors.notDatabase, { location, why: describeError(error) }, error)
  }
  if (!names.includes('CURRENT')) throw damagedError(location, 'no database in it: there is no file CURRENT')
  if (!names.some((name) => name.endsWith('.log'))) throw damagedError(location, 'its write-ahead log is missing')
}

function openingError(location: string, error: unknown): NewcutError {
  // Opening wraps the reason in `cause`, destroying does not.
  const reason = (error as { cause?: unknown }).cause ?? error
  const code = (reason as { code?: string }).code
  if (code === 'LEVEL_LOCKED') return operatingError(dataErrors.locked, { location }, error)
  if (code === 'LEVEL_CORRUPTION') return damagedError(location, describeError(reason), error)
  return operatingError(dataErrors.notOpened, { location, why: describeError(reason) }, error)
}

/** Appends a checksum: bytes || CRC-32 of them, u32 LE (4). LevelDB does not check what it reads. */
export function seal(bytes: Uint8Array): Uint8Array {
  return concatBytes(bytes, chainBytes(crc32(bytes)))
}

/** Removes the checksum. @returns a view of the bytes, or undefined if the checksum is wrong */
export function unseal(value: Uint8Array): Uint8Array | undefined {
  const end = value.length - SEAL_BYTES
  if (end < 0) return undefined
  const bytes = value.subarray(0, end)
  return crc32(bytes) === readU32LE(value, end) ? bytes : undefined
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function jsonEntry(key: string, value: unknown): StoredEntry {
  return { type: 'put', key, value: seal(encoder.encode(JSON.stringify(value))) }
}

/**
 * Reads the bytes under a key.
 * @returns undefined if there are none
 * @throws NewcutError DATA_UNUSABLE if they are damaged
 */
export function readValue(database: Database, key: string): Uint8Array | undefined {
  let value: Uint8Array | undefined
  try {
    value = database.getSync(key)
  } catch (error) {
    // The database is closed: the read came too late, and nothing is damaged.
    if (database.status !== 'open') throw error
    throw damagedError(database.location, `the record ${key} cannot be read`, error)
  }
  if (value === undefined) return undefined
  const bytes = unseal(value)
  if (bytes === undefined) throw damagedError(database.location, `the record ${key} has a wrong checksum`)
  return bytes
}

/**
 * Reads the JSON under a key.
 * @returns undefined if there is none
 * @throws NewcutError DATA_UNUSABLE if it is damaged
 */
export function readJsonRecord(database: Database, key: string): unknown {
  const bytes = readValue(database, key)
  return bytes === undefined ? undefined : JSON.parse(decoder.decode(bytes))
}
