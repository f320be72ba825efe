/** A node that begins with a state in one file, and writes one when it ends. */
import { rm } from 'node:fs/promises'
import { NewcutError } from '#ground/base/errors.ts'
import { printable } from '#ground/base/printable.ts'
import { isThere } from './data/database.ts'
import { checkStateFile, type SavedNetwork, unpackState, writeStateFile } from './data/state-file.ts'
import type { Mempools, PendingBytes } from './mempool/mempools.ts'
import type { DevnetOptions } from './options/devnet-options.ts'

/** Longest text of the reasons for dropped transactions. */
const MAX_REASONS_LENGTH = 512

/** The state of a node at its start. */
export class StateStart {
  /** Data directory of the node. Undefined if its chains stay in memory. */
  readonly dataDir: string | undefined
  readonly #file: string | undefined
  readonly #isTemporary: boolean
  readonly #pending: readonly PendingBytes[]

  private constructor(
    dataDir: string | undefined,
    file: string | undefined,
    { isTemporary, pending }: { readonly isTemporary: boolean; readonly pending: readonly PendingBytes[] },
  ) {
    this.dataDir = dataDir
    this.#file = file
    this.#isTemporary = isTemporary
    this.#pending = pending
  }

  /**
   * Unpacks the state that the options name, if there is one.
   * @throws NewcutError DATA_UNUSABLE, also for a file that cannot be written
   */
  static async open({ dataDir, stateFile, state }: DevnetOptions): Promise<StateStart> {
    if (stateFile !== undefined) await checkStateFile(stateFile)
    const hasFile = stateFile !== undefined && (await isThere(stateFile))
    const given = state ?? (hasFile ? stateFile : undefined)
    if (given === undefined) return new StateStart(dataDir, stateFile, { isTemporary: false, pending: [] })
    const { directory, pending } = await unpackState(given)
    return new StateStart(directory, stateFile, { isTemporary: true, pending })
  }

  /** Puts the pending transactions of the state into the pools, and reports how many were dropped. */
  refill(pools: Mempools, onNotice: (message: string) => void): void {
    if (this.#pending.length === 0) return
    const dropped = new Map<string, number>()
    for (const reason of pools.readmit(this.#pending)) dropped.set(reason, (dropped.get(reason) ?? 0) + 1)
    const lost = [...dropped.values()].reduce((sum, count) => sum + count, 0)
    const why = [...dropped].map(([reason, count]) => `${count}: ${reason}`).join('; ')
    const kept = `state: ${this.#pending.length - lost} of ${this.#pending.length} transactions are pending again`
    onNotice(lost === 0 ? kept : `${kept}, ${lost} were dropped (${printable(why, MAX_REASONS_LENGTH)})`)
  }

  /** Replaces the temporary directory in the message of the error by the file. @returns the error */
  nameFile(error: unknown): unknown {
    if (!(error instanceof NewcutError) || !this.#isTemporary || this.dataDir === undefined) return error
    error.message = error.message.replaceAll(this.dataDir, this.#file ?? 'state')
    return error
  }

  /** Writes the file, if the options name one. @throws NewcutError DATA_UNUSABLE */
  async save(network: SavedNetwork): Promise<void> {
    if (this.#file !== undefined) await writeStateFile(this.#file, network)
  }

  /** Removes the temporary directory. */
  async remove(): Promise<void> {
    if (this.#isTemporary && this.dataDir !== undefined) await rm(this.dataDir, { recursive: true, force: true })
  }
}
