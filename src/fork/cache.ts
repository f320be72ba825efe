/**
 * Entries of one chain at its pin, in memory and in an append-only file of JSON lines. A pinned block never changes, so
 * entries never expire. Absent entries are cached too.
 *
 *     {"fork":1,"network":"mainnet01","chain":0,"height":5812345,"hash":".."}
 *     ["row:coin.coin-table|k:..",{..}]
 */
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeError, NewcutError } from '../core/errors.ts'

/** The pinned block of a chain. */
export interface PinnedBlock {
  readonly network: string
  readonly chain: number
  readonly height: number
  /** base64url */
  readonly hash: string
}

const VERSION = 1

export class ForkCache {
  readonly #entries = new Map<string, unknown>()
  readonly #file: string | null
  /** Text that the file lacks. */
  #unwritten = ''

  /**
   * Opens the cache of a chain.
   * @param folder null to keep it in memory only
   * @throws NewcutError DATA_UNUSABLE if the file is of another block, or cannot be read or written
   */
  constructor(folder: string | null, block: PinnedBlock) {
    const first = JSON.stringify({ fork: VERSION, ...block })
    if (folder === null) {
      this.#file = null
      return
    }
    const { network, chain, hash } = block
    this.#file = join(folder, network, `${chain}-${hash}.jsonl`)
    try {
      mkdirSync(join(folder, network), { recursive: true })
      const text = textOf(this.#file)
      if (text === '') this.#unwritten = `${first}\n`
      else this.#read(text, first)
      this.save()
    } catch (error) {
      if (error instanceof NewcutError) throw error
      throw new NewcutError('DATA_UNUSABLE', `the cache ${this.#file} cannot be used: ${describeError(error)}`, {
        hint: 'name another folder with --fork-cache, or use --fork-cache off',
        cause: error,
      })
    }
  }

  #read(text: string, first: string): void {
    const lines = text.split('\n')
    // A process that was killed may have left half a line: the entry is fetched again.
    const torn = lines.pop()
    if (torn !== '') this.#unwritten = '\n'
    if (lines[0] !== first) {
      throw new NewcutError('DATA_UNUSABLE', `the cache ${this.#file} is of another block or another newcut`, {
        hint: `its first line must be ${first}; remove the file, or name another folder with --fork-cache`,
      })
    }
    for (const line of lines.slice(1)) {
      const entry = entryIn(line)
      if (entry !== null) this.#entries.set(...entry)
    }
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
    if (this.#file !== null) this.#unwritten += `${JSON.stringify([key, json])}\n`
  }

  /** Appends new entries to the file. */
  save(): void {
    if (this.#file === null || this.#unwritten === '') return
    appendFileSync(this.#file, this.#unwritten)
    this.#unwritten = ''
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

/** @returns null for half a line of a process that was killed */
function entryIn(line: string): [string, unknown] | null {
  try {
    const entry: unknown = JSON.parse(line)
    return Array.isArray(entry) && entry.length === 2 && typeof entry[0] === 'string' ? [entry[0], entry[1]] : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
