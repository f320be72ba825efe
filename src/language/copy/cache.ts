/**
 * Entries of one chain at its pin, in memory and in an append-only file of JSON lines. A pinned block never changes, so
 * entries never expire. Absent entries are cached too. Every line ends with a seal over the line and the block.
 *
 *     {"fork":2,"network":"mainnet01","chain":0,"height":5812345,"hash":".."}
 *     ["row:coin.coin-table|k:..",{..},"Q2hlY2tzdW1P"]
 */
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeError, NewcutError, operatingError } from '#ground/base/errors.ts'
import { parsePlainJson } from '#ground/base/json.ts'
import { makeFolders, replaceFile } from '#ground/base/replace-file.ts'
import { sealOf } from '#ground/base/seal.ts'
import { blake2b256 } from '#ground/chain/blake2b.ts'
import { copyErrors } from './errors.ts'

/** The pinned block of a chain. */
export interface PinnedBlock {
  readonly network: string
  readonly chain: number
  readonly height: number
  /** base64url */
  readonly hash: string
}

const VERSION = 2

export class CopyCache {
  readonly #entries = new Map<string, unknown>()
  readonly #file: string | null
  readonly #hash: string
  /** Text that the file lacks. */
  #unwritten = ''

  /**
   * Opens the cache of a chain.
   * @param folder null to keep it in memory only
   * @param onNotice called with a message if lines are damaged: they are dropped, and fetched again
   * @throws NewcutError DATA_UNUSABLE if the file is of another block, or cannot be read or written
   */
  constructor(folder: string | null, block: PinnedBlock, onNotice: (message: string) => void = () => undefined) {
    this.#hash = block.hash
    const first = JSON.stringify({ fork: VERSION, ...block })
    if (folder === null) {
      this.#file = null
      return
    }
    const { network, chain, hash } = block
    this.#file = join(folder, network, `${chain}-${hash}.jsonl`)
    try {
      makeFolders(join(folder, network))
      const text = textOf(this.#file)
      // A process that was killed may have left a part of the first line.
      if (first.startsWith(text)) this.#unwritten = `${first.slice(text.length)}\n`
      else this.#read(this.#file, text, first, onNotice)
      this.save()
    } catch (error) {
      throw error instanceof NewcutError ? error : unusableError(this.#file, error)
    }
  }

  #read(file: string, text: string, first: string, onNotice: (message: string) => void): void {
    const lines = text.split('\n')
    // A process that was killed may have left half a line.
    const torn = lines.pop()
    if (lines[0] !== first) {
      throw operatingError(copyErrors.otherCache, { file, first })
    }
    const bad: number[] = []
    for (const [i, line] of lines.entries()) {
      const entry = i === 0 ? null : entryIn(line, this.#hash)
      if (entry !== null) this.#entries.set(...entry)
      else if (i > 0) bad.push(i + 1)
    }
    if (bad.length > 0) onNotice(`the cache ${file}: ${damageText(bad)}: newcut drops that, and fetches it again`)
    if (bad.length > 0 || torn !== '') this.#rewrite(file, first)
  }

  /** Replaces the file by one with these entries alone. */
  #rewrite(file: string, first: string): void {
    const lines = [...this.#entries].map((entry) => lineOf(...entry, this.#hash))
    replaceFile(file, [first, ...lines, ''].join('\n'))
  }

  has(key: string): boolean {
    return this.#entries.has(key)
  }

  /** @returns undefined if the entry is not cached */
  get(key: string): unknown {
    return this.#entries.get(key)
  }

  /** Entries whose keys begin with this text, in the order in which they were added. */
  *withPrefix(prefix: string): Generator<readonly [key: string, json: unknown]> {
    for (const entry of this.#entries) if (entry[0].startsWith(prefix)) yield entry
  }

  /** Adds an entry. Call `save` before anything depends on it. */
  put(key: string, json: unknown): void {
    this.#entries.set(key, json)
    if (this.#file !== null) this.#unwritten += `${lineOf(key, json, this.#hash)}\n`
  }

  /** Forgets an entry. The file has it until another one takes its place. */
  forget(key: string): void {
    this.#entries.delete(key)
  }

  /**
   * Appends new entries to the file.
   * @throws NewcutError DATA_UNUSABLE; the next call tries again
   */
  save(): void {
    if (this.#file === null || this.#unwritten === '') return
    try {
      appendFileSync(this.#file, this.#unwritten)
    } catch (error) {
      throw unusableError(this.#file, error)
    }
    this.#unwritten = ''
  }
}

function unusableError(file: string, error: unknown): NewcutError {
  return operatingError(copyErrors.unusableCache, { file, why: describeError(error) }, error)
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

/** @returns null for a line that is damaged, edited, or from the cache of another block */
function entryIn(line: string, hash: string): [string, unknown] | null {
  try {
    const entry: unknown = parsePlainJson(line)
    if (!Array.isArray(entry) || typeof entry[0] !== 'string') return null
    const [key, json] = entry as [string, unknown]
    return lineOf(key, json, hash) === line ? [key, json] : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** @param hash hash of the pinned block */
function lineOf(key: string, json: unknown, hash: string): string {
  const text = JSON.stringify([key, json]).slice(0, -1)
  return `${text},"${sealOf(blake2b256, hash, text)}"]`
}

function damageText(lines: readonly number[]): string {
  const first = lines.slice(0, 3).join(', ')
  if (lines.length === 1) return `line ${first} is damaged or was edited`
  return `lines ${first}${lines.length > 3 ? `, and ${lines.length - 3} more` : ''} are damaged or were edited`
}
