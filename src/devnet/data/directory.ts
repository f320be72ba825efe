/**
 * A data directory: everything that a node keeps on disk.
 *
 *     DIR/blocks    block database (records.ts)
 *     DIR/state     contract-state database (state-database.ts)
 */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describeError, type NewcutError, operatingError } from '#ground/base/errors.ts'
import type { OnProgress } from '#ground/base/progress.ts'
import { makeFolders } from '#ground/base/replace-file.ts'
import { networkForm } from '#ground/chain/known-networks.ts'
import { development } from '#ground/chain/network-data.ts'
import type { NodeCopy } from '../copy/node-copy.ts'
import { genesisFor } from '../ledger/genesis.ts'
import { Ledger } from '../ledger/ledger.ts'
import { commandCheck } from '../mempool/checks.ts'
import { loadSlhDsa } from '../mempool/slh-dsa.ts'
import { forkedState, genesisState } from '../rules/chains.ts'
import { rulesOf } from '../rules/network-rules.ts'
import {
  describeSetting,
  fixedSettings,
  isSameSetting,
  type NetworkSettings,
  networkOf,
  type RequestedSettings,
  settingsOf,
} from '../rules/settings.ts'
import type { Block } from '../store/block-store.ts'
import type { PrintReporter } from '../store/print-reporter.ts'
import { BlockDatabase } from './block-database.ts'
import { isThere } from './database.ts'
import { dataErrors } from './errors.ts'
import type { LoadedState } from './load.ts'
import { StateDatabase, type StateDatabaseOptions } from './state-database.ts'

export const BLOCKS = 'blocks'
export const STATE = 'state'
/** Files that may exist where a network begins: those of the system, and an interrupted earlier attempt. */
const IGNORED = /^(\..*|lost\+found|blocks\.new|fork\.json(\.new)?)$/

interface DataDirectoryOptions {
  /** Settings of a new network; an existing one must have the same. */
  readonly asked: RequestedSettings
  /** Called once, when a write fails; nothing is written afterwards. */
  readonly onFailure: (error: NewcutError) => void
  /** Called with a message for every repair. */
  readonly onNotice: (message: string) => void
  readonly onProgress?: OnProgress | undefined
  /** The fork that the network begins with; default: none. */
  readonly fork?: NodeCopy | null
  /** Whether code may call `print`, and who takes what it prints. Default: it may not. */
  readonly prints?: PrintReporter
  /** Maximum number of blocks queued for writing. Default: the one of BlockDatabase. */
  readonly maxUnwrittenBlocks?: number
}

export interface DataDirectory {
  readonly blocks: BlockDatabase
  readonly state: StateDatabase
  readonly loaded: LoadedState
  readonly ledger: Ledger
  /** Rejects with the error of a failed write; everything is closed either way. */
  readonly close: () => Promise<void>
}

/**
 * Opens the data directory at `directory`, or begins a network there if it is empty.
 * @throws NewcutError DATA_UNUSABLE if it is damaged, in use, not writable, not a data directory, or holds a network
 *   with other settings
 */
export async function openDataDirectory(directory: string, options: DataDirectoryOptions): Promise<DataDirectory> {
  const { asked, onFailure, onNotice, onProgress, fork = null, prints, maxUnwrittenBlocks } = options
  if (await isNew(directory)) {
    const settings = settingsOf(asked)
    await BlockDatabase.create(join(directory, BLOCKS), settings, firstState(settings, fork))
  }
  const blocks = await BlockDatabase.open(join(directory, BLOCKS), onFailure, maxUnwrittenBlocks)
  try {
    expectSettings(directory, blocks, asked)
    // A fork continues under its name.
    if (fork === null) expectNetwork(directory, blocks.settings, asked)
    if (asked.autoMine !== undefined) await blocks.setAutoMine(asked.autoMine)
    const loaded = await blocks.load({ onProgress, roots: fork?.pin.hashes ?? null })
    expectPrints(directory, blocks, prints)
    const { store } = loaded
    const stateOptions = { store, durable: () => blocks.durable(), onFailure }
    const state = await openState(join(directory, STATE), stateOptions, onNotice)
    // Close the state first: its last write waits until the open block database has the blocks.
    const close = () => state.close().finally(() => blocks.close())
    const rules = rulesOf(blocks.settings)
    if (rules.release.hasSlhDsa) await loadSlhDsa()
    const ledger = new Ledger({
      store,
      heads: loaded.heads.values(),
      index: state,
      versions: state.versions,
      rules,
      check: commandCheck(rules, blocks.exemptions),
      exemptions: blocks.exemptions,
      prints: prints?.noteIn(blocks.exemptions),
      fork: fork ?? undefined,
    })
    const replay = (block: Block) => ledger.replay(block)
    await state
      .catchUp(store.size, replay, { onProgress })
      .catch((error) => state.close().finally(() => Promise.reject(error)))
    onProgress?.(null)
    return { blocks, state, loaded, ledger, close }
  } catch (error) {
    onProgress?.(null)
    await blocks.close()
    throw error
  }
}

/** The chains of a new network. */
function firstState(settings: NetworkSettings, fork: NodeCopy | null) {
  if (fork !== null) return forkedState(networkOf(settings), fork.headers, fork.payloads)
  const rules = rulesOf(settings)
  return genesisState(rules.network, (chain) => genesisFor(rules, chain).payload)
}

/** Whether to begin a network: the directory is empty. Creates the directory if it does not exist. */
async function isNew(directory: string): Promise<boolean> {
  let names: string[]
  try {
    makeFolders(directory)
    names = await readdir(directory)
  } catch (error) {
    throw operatingError(dataErrors.noDataDirectory, { directory, why: describeError(error) }, error)
  }
  if (names.includes(BLOCKS)) return false
  const others = names.filter((name) => !IGNORED.test(name))
  if (others.length === 0) return true
  throw operatingError(dataErrors.otherFiles, { directory, files: others.slice(0, 3).join(', '), blocks: BLOCKS })
}

function expectSettings(directory: string, { settings }: BlockDatabase, asked: RequestedSettings): void {
  const wanted = settingsOf(asked, settings)
  for (const name of fixedSettings) {
    if (isSameSetting(name, settings, wanted)) continue
    const [has, requested] = [describeSetting(name, settings), describeSetting(name, wanted)]
    throw operatingError(dataErrors.otherSetting, { directory, has, requested })
  }
}

/** @throws NewcutError DATA_UNUSABLE if the network has another name, or other rules than a file of the user */
function expectNetwork(
  directory: string,
  { network: has }: NetworkSettings,
  { network: asked }: RequestedSettings,
): void {
  if (typeof asked !== 'object') return
  const name = typeof has === 'object' ? has.name : (has ?? development.name)
  if (name !== asked.name)
    throw operatingError(dataErrors.otherNetwork, { directory, has: name, requested: asked.name })
  // Files of newcut may learn rules; the network keeps those of its first block.
  if (networkForm(name) === asked || JSON.stringify(has) === JSON.stringify(asked)) return
  throw operatingError(dataErrors.otherRules, { directory, network: name })
}

/** @throws NewcutError DATA_UNUSABLE if a block needs `print`, and the node does not allow it */
function expectPrints(directory: string, { exemptions }: BlockDatabase, prints: PrintReporter | undefined): void {
  if (prints?.isAllowed || !exemptions.hasPrintingBlocks) return
  throw operatingError(dataErrors.printRefused, { directory })
}

/** Opens the state database. An empty one replaces it if it is missing or damaged; the blocks then fill it. */
async function openState(
  location: string,
  options: StateDatabaseOptions,
  onNotice: (message: string) => void,
): Promise<StateDatabase> {
  if (!(await isThere(location))) return StateDatabase.create(location, options)
  return StateDatabase.openOrRemake(location, options, (reason) => onNotice(`made again: ${describeError(reason)}`))
}
