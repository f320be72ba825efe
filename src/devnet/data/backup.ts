/**
 * Backup jobs. Each copies the chains as of its start to a new data directory.
 *
 *     DIR/ID            a complete backup; ID: unix microseconds
 *     DIR/ID.partial    an unfinished or failed backup
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describeError, operatingError } from '#ground/base/errors.ts'
import { makeFolders, moveInto } from '#ground/base/replace-file.ts'
import type { BackupStatus } from '#ground/schema/bodies.ts'
import type { NodeCopy } from '../copy/node-copy.ts'
import { writeCopyFile } from '../copy/open-copy.ts'
import { Ledger } from '../ledger/ledger.ts'
import type { ChainState } from '../rules/journal.ts'
import { type NetworkRules, rulesOf } from '../rules/network-rules.ts'
import type { NetworkSettings } from '../rules/settings.ts'
import type { ReadonlyExemptions } from '../store/exemptions.ts'
import { writeCopy } from './copy.ts'
import { isThere } from './database.ts'
import { BLOCKS, STATE } from './directory.ts'
import { dataErrors } from './errors.ts'
import { type StateSnapshot, stateSnapshotOf } from './records.ts'
import { StateDatabase } from './state-database.ts'

interface BackupOptions {
  /** Parent directory of all backups; see `expectBackupDirectory`. */
  readonly directory: string
  readonly settings: NetworkSettings
  readonly state: () => ChainState
  /** Default: none. */
  readonly exemptions?: ReadonlyExemptions
  /** Unix time in microseconds; strictly increasing. */
  readonly now: () => bigint
  /** Called with the reason if a job fails. */
  readonly onNotice: (message: string) => void
  /** The fork that the network began with, or null. */
  readonly fork: NodeCopy | null
}

/** Creates the backup directory if it does not exist. @throws NewcutError DATA_UNUSABLE if it is not writable */
export async function expectBackupDirectory(directory: string): Promise<void> {
  try {
    makeFolders(directory)
    // Write to find out: permissions do not reveal a read-only or full file system.
    await rm(await mkdtemp(join(directory, '.newcut-')), { recursive: true })
  } catch (error) {
    throw operatingError(dataErrors.noBackups, { directory, why: describeError(error) }, error)
  }
}

/** Maximum failed jobs that are remembered for check-backup, so that a full disk does not fill the memory too. */
const MAX_FAILED_JOBS = 1000

export class BackupJobs {
  readonly #options: BackupOptions
  /** Ids, oldest first. */
  readonly #failed = new Set<string>()
  readonly #stopping = new AbortController()
  #running: (BackupJob & { readonly ended: Promise<void> }) | null = null

  constructor(options: BackupOptions) {
    this.#options = options
  }

  /**
   * Starts a job. Only one job runs at a time: a second call returns the id of the running one. That one then writes
   * the contract-state database too if the second call wants it.
   * @param hasState also write the contract-state database
   * @returns the id of the job
   */
  start(hasState: boolean): string {
    if (this.#running === null) {
      const job: BackupJob = { id: String(this.#options.now()), hasState }
      this.#running = Object.assign(job, { ended: this.#run(job) })
    }
    this.#running.hasState ||= hasState
    return this.#running.id
  }

  /** Finds jobs of earlier runs of the node by their directories. @returns undefined if there is no such job */
  async status(id: string): Promise<BackupStatus | undefined> {
    // Ids are numbers. Anything else could be a path to another directory.
    if (!/^\d{1,20}$/.test(id)) return undefined
    if (this.#running?.id === id) return 'backup-in-progress'
    if (await isThere(this.#placeOf(id))) return 'backup-done'
    return (await isThere(this.#partialOf(id))) || this.#failed.has(id) ? 'backup-failed' : undefined
  }

  /** Aborts a running job, and waits for its end. */
  async close(): Promise<void> {
    this.#stopping.abort(new Error('the node stopped'))
    await this.#running?.ended
  }

  async #run(job: BackupJob): Promise<void> {
    const { id } = job
    const { settings, state, onNotice, fork, exemptions } = this.#options
    const partial = this.#partialOf(id)
    const snapshot = stateSnapshotOf(state())
    const stopped = this.#stopping.signal
    try {
      makeFolders(partial)
      if (fork !== null) writeCopyFile(partial, fork.record)
      await writeCopy(join(partial, BLOCKS), settings, snapshot, { stopped, exemptions })
      // Nothing happens between this question and the end of the job.
      if (job.hasState) {
        await writeState(join(partial, STATE), snapshot, { rules: rulesOf(settings), fork, exemptions, stopped })
      }
      moveInto(partial, this.#placeOf(id))
    } catch (error) {
      onNotice(`backup ${id} failed: ${describeError(error)}`)
      for (const oldest of this.#failed) if (this.#failed.size >= MAX_FAILED_JOBS) this.#failed.delete(oldest)
      this.#failed.add(id)
      // If writing fails, removing may fail too. The job counts as failed either way.
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

interface BackupJob {
  readonly id: string
  /** Whether it writes the contract-state database. A later call may want it. */
  hasState: boolean
}

interface StateOptions {
  readonly rules: NetworkRules
  readonly fork: NodeCopy | null
  readonly exemptions: ReadonlyExemptions | undefined
  readonly stopped: AbortSignal
}

/** Writes the state database that results from the blocks of the snapshot. */
async function writeState(
  location: string,
  { store, blocks, heads }: StateSnapshot,
  { rules, fork, exemptions, stopped }: StateOptions,
): Promise<void> {
  const options = { store, durable: () => Promise.resolve(), onFailure: () => undefined }
  const state = await StateDatabase.create(location, options)
  try {
    // No check: these blocks were checked on arrival.
    const ledger = new Ledger({
      store,
      index: state,
      versions: state.versions,
      rules,
      check: () => null,
      fork: fork ?? undefined,
      ...(exemptions && { exemptions }),
      heads: heads.flatMap((id) => store.byId(id)?.header ?? []),
    })
    await state.catchUp(blocks, (block) => ledger.replay(block), { stopped })
  } finally {
    await state.close()
  }
}
