/**
 * A data directory: what a node keeps on disk.
 *
 *     DIR/blocks    block database (records.ts)
 *     DIR/state     contract-state database (state-database.ts)
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describeError, type NewcutError } from '../../core/errors.ts'
import { genesisState } from '../rules/chains.ts'
import { type AskedSettings, describeSetting, fixedSettings, networkOf, settingsOf } from '../rules/settings.ts'
import { BlockDatabase } from './block-database.ts'
import { isThere, makeDirectory, unusable } from './database.ts'
import type { LoadedState } from './load.ts'
import { StateDatabase, type StateDatabaseOptions } from './state-database.ts'

export const BLOCKS = 'blocks'
export const STATE = 'state'
/** What may lie where a network is to begin: files of the system, and a beginning that was broken off. */
const IGNORED = /^(\..*|lost\+found|blocks\.new)$/

export interface DataDirectoryOptions {
  /** What the network must be like, or begin with. */
  readonly asked: AskedSettings
  /** Hears once of a write that failed: nothing more is written. */
  readonly onFailure: (error: NewcutError) => void
  /** Hears of what was repaired. */
  readonly onNotice: (message: string) => void
}

export interface DataDirectory {
  readonly blocks: BlockDatabase
  readonly state: StateDatabase
  readonly loaded: LoadedState
  /** Rejects with what went wrong with a write; everything is closed all the same. */
  readonly close: () => Promise<void>
}

/**
 * Opens the data directory at `directory`, and begins a network there when there is none. Throws NewcutError
 * DATA_UNUSABLE: damaged, in use, not writable, not a data directory, or a network other than asked for.
 */
export async function openDataDirectory(directory: string, options: DataDirectoryOptions): Promise<DataDirectory> {
  const { asked, onFailure, onNotice } = options
  if (await isNew(directory)) {
    const settings = settingsOf(asked)
    await BlockDatabase.create(join(directory, BLOCKS), settings, genesisState(networkOf(settings)))
  }
  const blocks = await BlockDatabase.open(join(directory, BLOCKS), onFailure)
  try {
    expectSettings(directory, blocks, asked)
    if (asked.autoMine !== undefined) await blocks.setAutoMine(asked.autoMine)
    const loaded = await blocks.load()
    const { store } = loaded
    const stateOptions = { store, durable: () => blocks.durable(), onFailure }
    const state = await openState(join(directory, STATE), stateOptions, onNotice)
    // One after the other: the state is written after the blocks.
    const close = () => state.close().finally(() => blocks.close())
    await state.catchUp(store.size).catch((error) => state.close().finally(() => Promise.reject(error)))
    return { blocks, state, loaded, close }
  } catch (error) {
    await blocks.close()
    throw error
  }
}

/** Whether a network is to begin there: the directory is empty, or is made now. */
async function isNew(directory: string): Promise<boolean> {
  let names: string[]
  try {
    await makeDirectory(directory)
    names = await readdir(directory)
  } catch (error) {
    const hint = 'it must be a directory that this user may read and write'
    throw unusable(directory, `not a directory to use: ${describeError(error)}`, { hint, cause: error })
  }
  if (names.includes(BLOCKS)) return false
  const others = names.filter((name) => !IGNORED.test(name))
  if (others.length === 0) return true
  throw unusable(directory, `no data directory: it holds ${others.slice(0, 3).join(', ')} but no ${BLOCKS}`, {
    hint: 'name an empty or a new directory to begin a network there',
  })
}

function expectSettings(directory: string, { settings }: BlockDatabase, asked: AskedSettings): void {
  const wanted = settingsOf(asked, settings)
  for (const name of fixedSettings) {
    if (wanted[name] === settings[name]) continue
    const [has, not] = [describeSetting(name, settings), describeSetting(name, wanted)]
    throw unusable(directory, `its network has ${has}, not ${not}`, {
      hint: 'leave that out to go on with it, or name another directory to begin anew',
    })
  }
}

/** It is there, or it is made: the blocks tell all that must be in it. */
async function openState(
  location: string,
  options: StateDatabaseOptions,
  onNotice: (message: string) => void,
): Promise<StateDatabase> {
  if (!(await isThere(location))) return StateDatabase.create(location, options)
  return StateDatabase.openOrRemake(location, options, (reason) => onNotice(`made anew: ${describeError(reason)}`))
}
