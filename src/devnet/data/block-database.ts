/** The block database of a data directory, which keeps the chains across restarts. */

import { describeError, type NewcutError, operatingError } from '#ground/base/errors.ts'
import { moveInto } from '#ground/base/replace-file.ts'
import type { AutoMine } from '#ground/schema/devnet-modes.ts'
import type { ChainJournal, ChainState } from '../rules/journal.ts'
import type { RuleChange } from '../rules/rule-history.ts'
import type { NetworkSettings } from '../rules/settings.ts'
import { Exemptions } from '../store/exemptions.ts'
import { writeCopy } from './copy.ts'
import { type Database, destroyDatabase, openDatabase, type StoredEntry } from './database.ts'
import { dataErrors } from './errors.ts'
import { GroupCommit } from './group-commit.ts'
import { type LoadedState, type LoadOptions, loadChains } from './load.ts'
import { DiskPayloads } from './payloads.ts'
import {
  blockEntry,
  exemptionEntry,
  networkEntry,
  readExemptions,
  readSettings,
  rulesEntry,
  type StateSnapshot,
  stateSnapshotOf,
  tipEntry,
} from './records.ts'

/** Default maximum number of blocks queued for writing. A caller that adds many blocks must yield to the writer in between. */
const MAX_UNWRITTEN_BLOCKS = 20_000

export class BlockDatabase implements ChainJournal {
  #settings: NetworkSettings
  readonly payloads: DiskPayloads
  /** New ones are written with the next block. */
  readonly exemptions = new Exemptions()
  readonly #database: Database
  readonly #commits: GroupCommit
  readonly #onFailure: (error: NewcutError) => void
  readonly #maxUnwritten: number
  #state: ChainState | undefined
  #writtenBlocks = 0
  #writtenExemptions = 0
  #writtenRules: readonly RuleChange[] = []
  #failure: NewcutError | undefined

  private constructor(database: Database, onFailure: (error: NewcutError) => void, maxUnwritten: number) {
    this.#maxUnwritten = maxUnwritten
    this.#database = database
    this.#onFailure = onFailure
    this.#settings = readSettings(database)
    this.payloads = new DiskPayloads(database)
    this.#commits = new GroupCommit(() => this.#write())
  }

  /**
   * Creates a database with these chains at `location`, which must not exist. Replaces the half-written database of an
   * earlier process.
   * @throws NewcutError DATA_UNUSABLE
   */
  static async create(location: string, settings: NetworkSettings, state: ChainState): Promise<void> {
    const unfinished = `${location}.new`
    await destroyDatabase(unfinished)
    try {
      await writeCopy(unfinished, settings, stateSnapshotOf(state))
      moveInto(unfinished, location)
    } catch (error) {
      throw operatingError(dataErrors.notCreated, { location, why: describeError(error) }, error)
    }
  }

  /**
   * Opens the database. Calls `onFailure` once, when a write fails.
   * @param maxUnwritten maximum number of blocks queued for writing
   * @throws NewcutError DATA_UNUSABLE
   */
  static async open(
    location: string,
    onFailure: (error: NewcutError) => void,
    maxUnwritten = MAX_UNWRITTEN_BLOCKS,
  ): Promise<BlockDatabase> {
    const database = await openDatabase(location, { create: false })
    try {
      return new BlockDatabase(database, onFailure, maxUnwritten)
    } catch (error) {
      await database.close()
      throw error
    }
  }

  /**
   * Loads the chains of the last write, with the newest creation time of a block (microseconds).
   * @throws NewcutError DATA_UNUSABLE if records are damaged, missing or inconsistent
   */
  async load(options: LoadOptions = {}): Promise<LoadedState> {
    const state = await loadChains(this.#database, this.settings, this.payloads, options)
    this.exemptions.add(await readExemptions(this.#database))
    this.#writtenExemptions = this.exemptions.size
    this.#writtenBlocks = state.store.size
    this.#writtenRules = [...state.ruleChanges]
    return state
  }

  get settings(): NetworkSettings {
    return this.#settings
  }

  /** Sets the automatic mining mode of the network, and saves it. @throws NewcutError DATA_UNUSABLE */
  async setAutoMine(autoMine: AutoMine | null): Promise<void> {
    if (JSON.stringify(autoMine) === JSON.stringify(this.#settings.autoMine)) return
    this.#settings = { ...this.#settings, autoMine }
    try {
      await this.#database.batch([networkEntry(this.#settings)], { sync: true })
    } catch (error) {
      throw operatingError(dataErrors.notWritten, { location: this.#database.location }, error)
    }
  }

  /** @throws NewcutError DATA_UNUSABLE if a write has failed, or too many blocks wait to be written */
  expectRoom(): void {
    if (this.#failure !== undefined) throw this.#failure
    const waiting = (this.#state?.store.size ?? 0) - this.#writtenBlocks
    if (waiting <= this.#maxUnwritten) return
    const { location } = this.#database
    throw operatingError(dataErrors.tooManyUnwritten, { location, waiting, most: this.#maxUnwritten })
  }

  noteChange(state: ChainState): void {
    this.#state = state
    this.#commits.request()
  }

  durable(): Promise<void> {
    return this.#commits.durable()
  }

  /**
   * Writes all pending changes, and closes. Rejects with the error of a failed write; the database is closed either
   * way.
   */
  async close(): Promise<void> {
    try {
      await this.durable()
    } finally {
      await this.#database.close()
    }
  }

  async #write(): Promise<void> {
    if (this.#state === undefined) return
    const snapshot = stateSnapshotOf(this.#state)
    const payloads = this.payloads.unwritten
    // Exemptions come in one batch with the blocks that need them.
    const exemptions = this.exemptions.since(this.#writtenExemptions)
    const entries = [...payloads, ...exemptions.map(exemptionEntry), ...this.#newEntries(snapshot)]
    try {
      await this.#database.batch(entries)
    } catch (error) {
      this.#failure = operatingError(dataErrors.notWritten, { location: this.#database.location }, error)
      this.#onFailure(this.#failure)
      throw this.#failure
    }
    this.payloads.forgetWritten(payloads)
    this.#writtenExemptions += exemptions.length
    this.#writtenBlocks = snapshot.blocks
    this.#writtenRules = snapshot.ruleChanges
  }

  #newEntries(snapshot: StateSnapshot): StoredEntry[] {
    const entries: StoredEntry[] = []
    for (let number = this.#writtenBlocks; number < snapshot.blocks; number++) {
      entries.push(blockEntry(number, snapshot.store.at(number).bytes))
    }
    // Compare identities: an undone change is a new object.
    if (snapshot.ruleChanges.some((change, i) => change !== this.#writtenRules[i]))
      entries.push(rulesEntry(snapshot.ruleChanges))
    entries.push(tipEntry(snapshot))
    return entries
  }
}
