/**
 * The contract-state database of a data directory. It derives from the blocks: it is written after them, and missing or
 * damaged parts are rebuilt from them.
 *
 *     tip                  JSON: number of blocks in it, and the hash of the last one
 *     transaction/KEY      JSON: places of the transaction with this request key
 *
 * disk-versions.ts adds the versions of entries.
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { NewcutError, operatingError } from '#ground/base/errors.ts'
import type { OnProgress } from '#ground/base/progress.ts'
import { HashText } from '#ground/schema/bodies.ts'
import { Compile, Type } from '#ground/schema/typebox.ts'
import { genesisIn } from '../ledger/genesis.ts'
import type { Block, BlockStore } from '../store/block-store.ts'
import { indexBlock, type TransactionIndex, type TransactionPlace } from '../store/transaction-index.ts'
import { type Database, destroyDatabase, jsonEntry, openDatabase, readJsonRecord } from './database.ts'
import { DiskVersions } from './disk-versions.ts'
import { damagedError, dataErrors } from './errors.ts'
import { GroupCommit } from './group-commit.ts'

const Natural = Type.Integer({ minimum: 0 })
const stateTip = Compile(Type.Object({ blocks: Natural, last: Type.String() }))
const places = Compile(Type.Array(Type.Object({ chain: Natural, height: Natural, block: HashText, index: Natural })))

const TIP_KEY = 'tip'
/** Blocks between two writes. After a crash about this many are missing; the next start executes them again. */
const BLOCKS_PER_WRITE = 1000
/** Blocks that are executed again before other tasks of the process get their turn. */
const REPLAYS_PER_TURN = 20

const transactionKey = (requestKey: string) => `transaction/${requestKey}`

export interface StateDatabaseOptions {
  readonly store: BlockStore
  /** Resolves once the current blocks are durable. Nothing that derives from a block may be on disk before it. */
  readonly durable: () => Promise<void>
  /** Called once, when a write fails. */
  readonly onFailure: (error: NewcutError) => void
}

/** Executes a block of the store, and records its writes. */
type Replay = (block: Block) => void | Promise<void>

interface CatchUpOptions {
  readonly stopped?: AbortSignal
  readonly onProgress?: OnProgress | undefined
}

export class StateDatabase implements TransactionIndex {
  /** Versions of contract-state entries. */
  readonly versions: DiskVersions
  readonly #database: Database
  readonly #options: StateDatabaseOptions
  readonly #commits = new GroupCommit(() => this.#write())
  /** Key -> JSON of records whose latest value is not on disk. */
  readonly #unwritten = new Map<string, unknown>()
  #blocks: number
  #writtenBlocks: number

  private constructor(database: Database, options: StateDatabaseOptions, blocks: number) {
    this.#database = database
    this.#options = options
    this.#blocks = blocks
    this.#writtenBlocks = blocks
    const records = {
      read: (key: string) => this.#read(key),
      write: (key: string, json: unknown) => this.#put(key, json),
    }
    this.versions = new DiskVersions(records, () => genesisIn(options.store).state)
  }

  /** Creates an empty database at `location`, which must not exist. @throws NewcutError DATA_UNUSABLE */
  static async create(location: string, options: StateDatabaseOptions): Promise<StateDatabase> {
    const database = await openDatabase(location, { create: true })
    await database.batch([tipEntry(options.store, 0)])
    return new StateDatabase(database, options, 0)
  }

  /**
   * Opens the database.
   * @throws NewcutError DATA_UNUSABLE, also if it derives from other blocks than those of the store
   */
  static async open(location: string, options: StateDatabaseOptions): Promise<StateDatabase> {
    const database = await openDatabase(location, { create: false })
    try {
      const tip = readJsonRecord(database, TIP_KEY)
      if (!stateTip.Check(tip)) throw damagedError(location, `the record ${TIP_KEY} has the wrong form`)
      if (tip.blocks > options.store.size) {
        // The state is written after the blocks. LevelDB repairs a log by dropping its damaged end.
        const lost = `the block database has lost blocks: ${tip.blocks} were in it, ${options.store.size} are`
        throw damagedError(location, lost)
      }
      if (lastOf(options.store, tip.blocks) !== tip.last) {
        throw damagedError(location, `its ${tip.blocks} blocks are not those of the block database`)
      }
      return new StateDatabase(database, options, tip.blocks)
    } catch (error) {
      await database.close()
      throw error
    }
  }

  /** Like open, but replaces an unusable database with an empty one, and calls `onRemade` with the reason. */
  static async openOrRemake(
    location: string,
    options: StateDatabaseOptions,
    onRemade: (reason: NewcutError) => void,
  ): Promise<StateDatabase> {
    try {
      return await StateDatabase.open(location, options)
    } catch (error) {
      if (!(error instanceof NewcutError)) throw error
      onRemade(error)
      await destroyDatabase(location)
      return StateDatabase.create(location, options)
    }
  }

  /** Number of blocks in it, counted from the first one of the store. */
  get blocks(): number {
    return this.#blocks
  }

  /** Places of a transaction. @throws NewcutError DATA_UNUSABLE for a damaged record */
  find(requestKey: string): readonly TransactionPlace[] {
    const key = transactionKey(requestKey)
    const record = this.#read(key) ?? []
    if (!places.Check(record)) throw damagedError(this.#database.location, `the record ${key} has the wrong form`)
    return record
  }

  add(requestKey: string, place: TransactionPlace): void {
    const known = this.find(requestKey)
    if (known.some(({ block }) => block === place.block)) return
    this.#put(transactionKey(requestKey), [...known, place])
    this.#commits.request()
  }

  /** Call it once the transactions of the first `blocks` blocks are added. */
  markReached(blocks: number): void {
    this.#blocks = blocks
    if (blocks - this.#writtenBlocks >= BLOCKS_PER_WRITE) this.#commits.request()
  }

  /**
   * Executes and indexes those of the first `blocks` blocks that are missing.
   * @throws read errors, errors of `replay`, or the reason of `stopped`
   */
  async catchUp(blocks: number, replay: Replay, { stopped, onProgress }: CatchUpOptions = {}): Promise<void> {
    const { store } = this.#options
    for (let number = this.#blocks; number < blocks; number++) {
      stopped?.throwIfAborted()
      const block = store.at(number)
      if (number >= store.chains) await replay(block)
      indexBlock(this, block)
      this.markReached(number + 1)
      if (number % REPLAYS_PER_TURN === 0) {
        onProgress?.({ what: 'executing blocks', done: number, total: blocks })
        await nextTurn()
      }
      if (number % BLOCKS_PER_WRITE === 0) await this.#commits.durable().then(() => nextTurn())
    }
    if (this.#blocks > this.#writtenBlocks) this.#commits.request()
  }

  /**
   * Writes all pending changes, and closes. Rejects with the error of a failed write; the database is closed either
   * way.
   */
  async close(): Promise<void> {
    try {
      if (this.#blocks > this.#writtenBlocks) this.#commits.request()
      await this.#commits.durable()
    } finally {
      await this.#database.close()
    }
  }

  async #write(): Promise<void> {
    const { store, durable, onFailure } = this.#options
    const blocks = this.#blocks
    const written = [...this.#unwritten]
    const entries = written.map(([key, json]) => jsonEntry(key, json))
    await durable()
    try {
      await this.#database.batch([...entries, tipEntry(store, blocks)])
    } catch (error) {
      const failure = operatingError(dataErrors.notWritten, { location: this.#database.location }, error)
      onFailure(failure)
      throw failure
    }
    this.#writtenBlocks = blocks
    for (const [key, json] of written) {
      if (this.#unwritten.get(key) === json) this.#unwritten.delete(key)
    }
  }

  #read(key: string): unknown {
    return this.#unwritten.has(key) ? this.#unwritten.get(key) : readJsonRecord(this.#database, key)
  }

  /** Pass a new object on every call: #write compares identities to find records that have changed since. */
  #put(key: string, json: unknown): void {
    this.#unwritten.set(key, json)
  }
}

const tipEntry = (store: BlockStore, blocks: number) => jsonEntry(TIP_KEY, { blocks, last: lastOf(store, blocks) })

/** Hash of the last of the first `blocks` blocks, as in JSON; empty if there are none. */
const lastOf = (store: BlockStore, blocks: number) => (blocks === 0 ? '' : store.at(blocks - 1).id)
