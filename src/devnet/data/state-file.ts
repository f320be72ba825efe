/**
 * A network in one file: the records of its block database (records.ts) as JSON lines, compressed by gzip, and its
 * pending transactions.
 *
 *     {"newcutState":2,"fork":TEXT|null}     first line; fork: the file of a network that was forked (open-copy.ts)
 *     [CHAIN,"BASE64"]                       a pending transaction, the oldest of each chain first
 *     ["KEY","BASE64"]                       a record
 *     {"records":N}                          last line; counts pending transactions too
 *
 * Files of version 1 have no pending transactions.
 */
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { describeError, NewcutError, operatingError } from '#ground/base/errors.ts'
import { parsePlainJson } from '#ground/base/json.ts'
import { moveInto, temporaryNameOf } from '#ground/base/replace-file.ts'
import { openUserFile } from '#ground/base/user-file.ts'
import { writeCopyFile } from '../copy/open-copy.ts'
import type { PendingBytes } from '../mempool/mempools.ts'
import type { NetworkSettings } from '../rules/settings.ts'
import type { ReadonlyExemptions } from '../store/exemptions.ts'
import { copyPieces } from './copy.ts'
import { openDatabase, type StoredEntry } from './database.ts'
import { BLOCKS } from './directory.ts'
import { dataErrors } from './errors.ts'
import type { StateSnapshot } from './records.ts'

const VERSION = 2
const READ_VERSIONS: readonly unknown[] = [1, VERSION]
/** Records that are written at once. */
const BATCH_RECORDS = 500

/** A network at one moment. */
export interface SavedNetwork {
  readonly settings: NetworkSettings
  readonly snapshot: StateSnapshot
  readonly exemptions: ReadonlyExemptions
  /** Content of the file of its fork; null for a network of its own. */
  readonly fork: string | null
  readonly pending: readonly PendingBytes[]
}

/** A state that was read from a file. */
interface UnpackedState {
  /** Name of a data directory, which the caller removes. */
  readonly directory: string
  readonly pending: readonly PendingBytes[]
}

/** The bytes of the file, read as they are made. */
export function stateStream(network: SavedNetwork): Readable {
  return Readable.from(linesOf(network)).pipe(createGzip())
}

async function* linesOf({ settings, snapshot, exemptions, fork, pending }: SavedNetwork): AsyncGenerator<string> {
  yield `${JSON.stringify({ newcutState: VERSION, fork })}\n`
  let records = pending.length
  for (const { chain, bytes } of pending) yield `${JSON.stringify([chain, base64Of(bytes)])}\n`
  for await (const entries of copyPieces(settings, snapshot, exemptions)) {
    records += entries.length
    for (const { key, value } of entries) {
      yield `${JSON.stringify([key, base64Of(value)])}\n`
    }
  }
  yield `${JSON.stringify({ records })}\n`
}

const base64Of = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

/**
 * Tries to write beside the file, so that a node does not find out at its end, when its state would be lost.
 * @throws NewcutError DATA_UNUSABLE
 */
export async function checkStateFile(file: string): Promise<void> {
  const unfinished = temporaryNameOf(file)
  try {
    await (await open(unfinished, 'w')).close()
    await rm(unfinished)
  } catch (error) {
    throw unwritableError(file, error)
  }
}

/** Writes the file, which replaces an earlier one at once. @throws NewcutError DATA_UNUSABLE */
export async function writeStateFile(file: string, network: SavedNetwork): Promise<void> {
  const unfinished = temporaryNameOf(file)
  try {
    await pipeline(stateStream(network), createWriteStream(unfinished, { flush: true }))
    moveInto(unfinished, file)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw unwritableError(file, error)
  }
}

function unwritableError(file: string, cause: unknown): NewcutError {
  return operatingError(dataErrors.stateNotWritten, { file, why: describeError(cause) }, cause)
}

/**
 * Makes a data directory of a state, in the folder of temporary files.
 * @param state name of a file, or its bytes
 * @throws NewcutError DATA_UNUSABLE if it is none
 */
export async function unpackState(state: string | Uint8Array): Promise<UnpackedState> {
  const name = typeof state === 'string' ? state : 'state'
  const directory = await mkdtemp(join(tmpdir(), 'newcut-state-'))
  try {
    const bytes =
      typeof state === 'string' ? createReadStream(state, { fd: openUserFile(state) }) : Readable.from([state])
    return { directory, pending: await unpackTo(directory, bytes, name) }
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error instanceof NewcutError ? error : notStateError(name, describeError(error), error)
  }
}

/** @returns the pending transactions */
async function unpackTo(directory: string, bytes: Readable, name: string): Promise<PendingBytes[]> {
  const text = createGunzip()
  // Errors of either stream end the other, and reach the reader of lines as an end without the last line.
  const piped = pipeline(bytes, text).then(
    () => null,
    (error: unknown) => error,
  )
  const lines = createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]()
  const first = await lines.next().catch(() => ({ done: true, value: undefined }) as const)
  const fork = first.done ? undefined : headIn(first.value, name)
  if (fork === undefined) {
    // A long file waits for its reader.
    text.destroy()
    throw notStateError(name, streamFault(await piped))
  }
  if (fork !== null) writeCopyFile(directory, fork)
  const database = await openDatabase(join(directory, BLOCKS), { create: true })
  const pending: PendingBytes[] = []
  try {
    let batch: StoredEntry[] = []
    let records = 0
    let end: unknown = null
    for await (const line of { [Symbol.asyncIterator]: () => lines }) {
      if (end !== null) throw notStateError(name, 'text follows its last line')
      const entry = entryIn(line)
      if (entry === null) throw notStateError(name, `its line ${records + 2} is not a record`)
      if ('records' in entry) {
        end = entry.records
        continue
      }
      records++
      if ('chain' in entry) pending.push(entry)
      else batch.push({ type: 'put', ...entry })
      if (batch.length < BATCH_RECORDS) continue
      await database.batch(batch)
      batch = []
    }
    if (end !== records) throw notStateError(name, 'it is cut off')
    // The checksum of all bytes comes last.
    const fault = await piped
    if (fault !== null) throw notStateError(name, describeError(fault), fault)
    await database.batch(batch)
    return pending
  } finally {
    text.destroy()
    await database.close()
  }
}

type StateLine = PendingBytes | { readonly key: string; readonly value: Buffer } | { readonly records: unknown }

/** @returns a pending transaction, a record, or the number of both that ends a file; null for another line */
function entryIn(line: string): StateLine | null {
  let entry: unknown
  try {
    entry = parsePlainJson(line)
  } catch {
    return null
  }
  if (!Array.isArray(entry)) return typeof entry === 'object' && entry !== null && 'records' in entry ? entry : null
  const [key, text] = entry as unknown[]
  if (typeof text !== 'string') return null
  const value = Buffer.from(text, 'base64')
  if (typeof key === 'number') return { chain: key, bytes: value }
  return typeof key === 'string' ? { key, value } : null
}

/** @returns the file of the fork, null for none, or undefined for a line of another file */
function headIn(line: string, name: string): string | null | undefined {
  let head: unknown
  try {
    head = parsePlainJson(line)
  } catch {
    return undefined
  }
  const { newcutState: version, fork = null } = (head ?? {}) as { newcutState?: unknown; fork?: unknown }
  if (version === undefined) return undefined
  if (READ_VERSIONS.includes(version)) return typeof fork === 'string' || fork === null ? fork : undefined
  throw operatingError(dataErrors.otherStateVersion, {
    name,
    version: String(version),
    versions: READ_VERSIONS.join(' and '),
  })
}

function streamFault(error: unknown): string {
  const isOther = error === null || (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE'
  return isOther ? 'it has other content' : describeError(error)
}

function notStateError(name: string, why: string, cause?: unknown): NewcutError {
  return operatingError(dataErrors.notState, { name, why }, cause)
}
