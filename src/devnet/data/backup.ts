/**
 * Backup jobs: copies of the chains as they are when the job starts, which open as data directories.
 *
 *     DIR/ID            a complete backup; ID: unix microseconds
 *     DIR/ID.partial    one that is under way or was broken off; it does not open
 */
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describeError } from '../../core/errors.ts'
import type { BackupStatus } from '../../schema/bodies.ts'
import { Ledger } from '../ledger/ledger.ts'
import type { ChainState } from '../rules/journal.ts'
import { type ReleaseRules, releaseRules } from '../rules/releases.ts'
import type { NetworkSettings } from '../rules/settings.ts'
import { writeCopy } from './copy.ts'
import { isThere, makeDirectory, unusable } from './database.ts'
import { BLOCKS, STATE } from './directory.ts'
import { type StateSnapshot, snapshotOf } from './records.ts'
import { StateDatabase } from './state-database.ts'

export interface BackupOptions {
  /** Where backups go (`expectBackupDirectory`). */
  readonly directory: string
  readonly settings: NetworkSettings
  readonly state: () => ChainState
  /** Microseconds; strictly increasing. */
  readonly now: () => bigint
  /** Called with the reason when a job fails. */
  readonly onNotice: (message: string) => void
}

/**
 * Makes the directory where backups go, if it is not there. Throws NewcutError DATA_UNUSABLE when nothing can be
 * written to it.
 */
export async function expectBackupDirectory(directory: string): Promise<void> {
  try {
    await makeDirectory(directory)
    // It writes to find out: permissions do not show that a file system is read-only or full.
    await rm(await mkdtemp(join(directory, '.newcut-')), { recursive: true })
  } catch (error) {
    const hint = 'it must be a directory that this user may write to'
    throw unusable(directory, `backups cannot be written: ${describeError(error)}`, { hint, cause: error })
  }
}

/** Most failed jobs that are remembered. */
const MAX_FAILED_JOBS = 1000

export class BackupJobs {
  readonly #options: BackupOptions
  /** Oldest first. */
  readonly #failed = new Set<string>()
  readonly #stopping = new AbortController()
  #running: { readonly id: string; readonly ended: Promise<void> } | null = null

  constructor(options: BackupOptions) {
    this.#options = options
  }

  /**
   * Starts a job, with the contract-state database if `withState`, and returns its id. While a job runs, no other one
   * starts, and the id of the running one is returned.
   */
  start(withState: boolean): string {
    if (this.#running !== null) return this.#running.id
    const id = String(this.#options.now())
    this.#running = { id, ended: this.#run(id, withState) }
    return id
  }

  /** undefined: there is no such job. Jobs of earlier runs of the node are found by the directories they left. */
  async status(id: string): Promise<BackupStatus | undefined> {
    // Ids are numbers. Anything else might be a path to another directory.
    if (!/^\d{1,20}$/.test(id)) return undefined
    if (this.#running?.id === id) return 'backup-in-progress'
    if (await isThere(this.#placeOf(id))) return 'backup-done'
    return (await isThere(this.#partialOf(id))) || this.#failed.has(id) ? 'backup-failed' : undefined
  }

  /** Breaks off a running job. */
  async close(): Promise<void> {
    this.#stopping.abort(new Error('the node stopped'))
    await this.#running?.ended
  }

  async #run(id: string, withState: boolean): Promise<void> {
    const { settings, state, onNotice } = this.#options
    const partial = this.#partialOf(id)
    const snapshot = snapshotOf(state())
    const stopped = this.#stopping.signal
    try {
      await makeDirectory(partial)
      await writeCopy(join(partial, BLOCKS), settings, snapshot, stopped)
      if (withState) await writeState(join(partial, STATE), snapshot, releaseRules[settings.release], stopped)
      await rename(partial, this.#placeOf(id))
    } catch (error) {
      onNotice(`backup ${id} failed: ${describeError(error)}`)
      for (const oldest of this.#failed) if (this.#failed.size >= MAX_FAILED_JOBS) this.#failed.delete(oldest)
      this.#failed.add(id)
      // Where writing fails, removing may fail too. The job counts as failed either way.
      await rm(partial, { recursive: true, force: true }).catch(() => undefined)
    } finally {
      this.#running = null
    }
  }

  #placeOf(id: string): string {
    return join(this.#options.directory, id)
  }

  #partialOf(id: string): string {
    return join(this.#options.directory, `${id}.partial`)
  }
}

/** Writes the state database that follows from the blocks of the snapshot. */
async function writeState(
  location: string,
  { store, blocks, heads }: StateSnapshot,
  release: ReleaseRules,
  stopped: AbortSignal,
): Promise<void> {
  const options = { store, durable: () => Promise.resolve(), onFailure: () => undefined }
  const state = await StateDatabase.create(location, options)
  try {
    // Its blocks were judged when they came.
    const ledger = new Ledger({
      ...{ store, index: state, versions: state.versions, release, check: () => null },
      heads: heads.flatMap((id) => store.byId(id)?.header ?? []),
    })
    await state.catchUp(blocks, (block) => ledger.replay(block), { stopped })
  } finally {
    await state.close()
  }
}
