/** A node that begins with a state in one file, and writes one when it ends. */
import { rm } from 'node:fs/promises'
import { NewcutError } from '../core/errors.ts'
import { isThere } from './data/database.ts'
import { checkStateFile, type SavedNetwork, unpackState, writeStateFile } from './data/state-file.ts'
import type { DevnetOptions } from './options.ts'

/** The state of a node at its start. */
export class StateStart {
  /** Data directory of the node. Undefined if its chains stay in memory. */
  readonly dataDir: string | undefined
  readonly #file: string | undefined
  readonly #isTemporary: boolean

  private constructor(dataDir: string | undefined, file: string | undefined, isTemporary: boolean) {
    this.dataDir = dataDir
    this.#file = file
    this.#isTemporary = isTemporary
  }

  /**
   * Unpacks the state that the options name, if there is one.
   * Throws NewcutError DATA_UNUSABLE, also for a file that cannot be written.
   */
  static async of({ dataDir, stateFile, state }: DevnetOptions): Promise<StateStart> {
    if (stateFile !== undefined) await checkStateFile(stateFile)
    const hasFile = stateFile !== undefined && (await isThere(stateFile))
    const given = state ?? (hasFile ? stateFile : undefined)
    if (given === undefined) return new StateStart(dataDir, stateFile, false)
    return new StateStart(await unpackState(given), stateFile, true)
  }

  /** Names the file instead of the temporary directory. */
  named(error: unknown): unknown {
    if (!(error instanceof NewcutError) || !this.#isTemporary || this.dataDir === undefined) return error
    const { code, message, hint, cause } = error
    return new NewcutError(code, message.replaceAll(this.dataDir, this.#file ?? 'state'), { hint, cause })
  }

  /** Writes the file, if the options name one. Throws NewcutError DATA_UNUSABLE. */
  async save(network: SavedNetwork): Promise<void> {
    if (this.#file !== undefined) await writeStateFile(this.#file, network)
  }

  /** Removes the temporary directory. */
  async remove(): Promise<void> {
    if (this.#isTemporary && this.dataDir !== undefined) await rm(this.dataDir, { recursive: true, force: true })
  }
}
