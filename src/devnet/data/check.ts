/** Checks everything in a data directory: every rule for every block, and every payload. */

import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { equalBytes } from '#ground/base/bytes.ts'
import { describeError } from '#ground/base/errors.ts'
import type { OnProgress } from '#ground/base/progress.ts'
import { payloadHashes } from '#ground/chain/payload.ts'
import type { NodeCopy } from '../copy/node-copy.ts'
import { openNodeCopy } from '../copy/open-copy.ts'
import { Ledger } from '../ledger/ledger.ts'
import { commandCheck } from '../mempool/checks.ts'
import { loadSlhDsa } from '../mempool/slh-dsa.ts'
import { Chains } from '../rules/chains.ts'
import { rulesOf } from '../rules/network-rules.ts'
import { type NetworkSettings, networkOf } from '../rules/settings.ts'
import type { Block, BlockStore } from '../store/block-store.ts'
import type { ReadonlyExemptions } from '../store/exemptions.ts'
import { indexBlock, MemoryTransactionIndex, requestKeysOf } from '../store/transaction-index.ts'
import { BlockDatabase } from './block-database.ts'
import { ComparedVersions } from './compared-versions.ts'
import { isThere } from './database.ts'
import { BLOCKS, STATE } from './directory.ts'
import type { LoadedState } from './load.ts'
import { StateDatabase } from './state-database.ts'

/** Maximum findings in a report, for a reader; `findingCount` counts all of them. */
const MAX_FINDINGS = 100
/** Blocks that are checked before other tasks of the process get their turn. */
const BLOCKS_PER_TURN = 200

export interface CheckReport {
  readonly settings: NetworkSettings
  readonly blocks: number
  /** Blocks that are not on the branch of any head. */
  readonly orphans: number
  /** Transactions in blocks; a transaction in several blocks counts several times. */
  readonly transactions: number
  /** Those without valid signatures, exempt by impersonation or as privileged runs. */
  readonly unsigned: number
  /** Whether its blocks have code that calls `print`, so that a node needs --allow-print. */
  readonly hasPrints: boolean
  /** Blocks in the state database, or null if there is none. A node adds the missing ones when it starts. */
  readonly stateBlocks: number | null
  /** Problems, at most 100 of them. */
  readonly findings: readonly string[]
  readonly findingCount: number
}

/**
 * Checks the data directory of a stopped node. Changes nothing, except that LevelDB may tidy its own files.
 * @throws NewcutError DATA_UNUSABLE if the directory does not load, or the reason of `stopped`
 */
export async function checkDataDirectory(
  directory: string,
  stopped?: AbortSignal,
  onProgress?: OnProgress,
): Promise<CheckReport> {
  const fork = await openNodeCopy(undefined, { dataDir: directory, onNotice: () => undefined }, BLOCKS)
  const database = await BlockDatabase.open(join(directory, BLOCKS), () => undefined)
  try {
    const loaded = await database.load({ onProgress, roots: fork?.pin.hashes ?? null })
    const check = new DirectoryCheck(
      database.settings,
      { ...loaded, exemptions: database.exemptions },
      { fork, onProgress },
    )
    const stateBlocks = await check.run(join(directory, STATE), stopped)
    return { ...check.report, stateBlocks }
  } finally {
    onProgress?.(null)
    await database.close()
  }
}

interface CheckedState extends LoadedState {
  readonly exemptions: ReadonlyExemptions
}

class DirectoryCheck {
  readonly #settings: NetworkSettings
  readonly #loaded: CheckedState
  readonly #store: BlockStore
  /** Blocks that did not execute, and their descendants. */
  readonly #unexecuted = new Set<string>()
  readonly #findings: string[] = []
  readonly #onProgress: OnProgress | undefined
  readonly #fork: NodeCopy | null
  #findingCount = 0
  #transactions = 0
  #unsigned = 0

  constructor(
    settings: NetworkSettings,
    loaded: CheckedState,
    { fork, onProgress }: { readonly fork: NodeCopy | null; readonly onProgress: OnProgress | undefined },
  ) {
    this.#fork = fork
    this.#onProgress = onProgress
    this.#settings = settings
    this.#loaded = loaded
    this.#store = loaded.store
  }

  get report(): Omit<CheckReport, 'stateBlocks'> {
    let onBranches = 0
    for (const { height } of this.#loaded.heads.values())
      onBranches += Number(height) + 1 - (this.#fork?.pin.height ?? 0)
    return {
      settings: this.#settings,
      blocks: this.#store.size,
      orphans: this.#store.size - onBranches,
      transactions: this.#transactions,
      unsigned: this.#unsigned,
      hasPrints: this.#loaded.exemptions.hasPrintingBlocks,
      findings: this.#findings,
      findingCount: this.#findingCount,
    }
  }

  /**
   * Verifies and executes every block, and compares its writes with the state database at `location`.
   * @returns the number of blocks in the state database, or null if there is none
   */
  async run(location: string, stopped: AbortSignal | undefined): Promise<number | null> {
    const state = await this.#openState(location)
    try {
      await this.#checkBlocks(state, stopped)
      return state?.blocks ?? null
    } finally {
      await state?.close()
    }
  }

  async #checkBlocks(state: StateDatabase | null, stopped: AbortSignal | undefined): Promise<void> {
    const { newestCreationTime, heads } = this.#loaded
    const network = networkOf(this.#settings)
    const chains = new Chains({
      network,
      checkPow: this.#settings.pow,
      // The clock at the time of an addition is unknown, so no block counts as ahead of it.
      now: () => newestCreationTime,
      state: this.#loaded,
    })
    const index = new MemoryTransactionIndex()
    const versions = new ComparedVersions(state, (record, what) => this.#report(this.#store.at(record), what))
    const rules = rulesOf(this.#settings)
    if (rules.release.hasSlhDsa) await loadSlhDsa()
    const { exemptions } = this.#loaded
    const ledger = new Ledger({
      store: this.#store,
      heads: heads.values(),
      index,
      versions,
      rules,
      check: commandCheck(rules, exemptions),
      exemptions,
      fork: this.#fork ?? undefined,
    })
    await this.#visitBlocks(this.#store.size, stopped, async (block, number) => {
      this.#unexecuted.add(block.id)
      // The forked node has the payloads of pinned blocks.
      if (this.#fork === null || number >= this.#store.chains) this.#checkPayload(block)
      if (state !== null && number < state.blocks) this.#checkIndex(state, block)
      // Loading has compared the genesis blocks with those of the network.
      const isFirst = number < this.#store.chains
      if (!isFirst) this.#checkRules(chains, block, number)
      if (isFirst || (await this.#executeComplete(ledger, block))) this.#unexecuted.delete(block.id)
      indexBlock(index, block)
    })
  }

  /** Executes a block once nothing of the forked network is missing. */
  #executeComplete(ledger: Ledger, block: Block): boolean | Promise<boolean> {
    const run = () => this.#executeOnce(ledger, block)
    return this.#fork === null ? run() : this.#fork.complete(run, [])
  }

  #checkRules(chains: Chains, block: Block, number: number): void {
    const broken = chains.rulesBrokenBy(number)
    if (broken.length > 0) this.#report(block, `breaks the rule of ${broken.join(', ')}`)
  }

  /**
   * Executes a block, but skips it if its parent did not execute: only the first failure is a finding.
   * @returns whether the block executed
   */
  #executeOnce(ledger: Ledger, block: Block): boolean {
    const parent = this.#store.parentOf(block)
    if (parent === undefined || this.#unexecuted.has(parent.id)) return false
    const judged = ledger.judgeStored(parent.header, block)
    if (!('fault' in judged)) {
      ledger.recordWrites(block, judged)
      return true
    }
    this.#report(block, `does not execute as it did: ${judged.fault}`)
    return false
  }

  /** @returns null if there is no database, or if it does not open */
  async #openState(location: string): Promise<StateDatabase | null> {
    if (!(await isThere(location))) return null
    const options = { store: this.#store, durable: () => Promise.resolve(), onFailure: () => undefined }
    try {
      return await StateDatabase.open(location, options)
    } catch (error) {
      this.#addFinding(describeError(error))
      return null
    }
  }

  #checkIndex(state: StateDatabase, block: Block): void {
    for (const requestKey of requestKeysOf(block)) {
      if (state.find(requestKey).some((place) => place.block === block.id)) continue
      this.#report(block, `its transaction ${requestKey} is not in the state database`)
    }
  }

  #checkPayload(block: Block): void {
    const { payload } = block
    const { payloadHash, transactionsHash, outputsHash } = payloadHashes(payload)
    this.#transactions += payload.transactions.length
    const { exemptions } = this.#loaded
    if (exemptions.size > 0) this.#unsigned += requestKeysOf(block).filter((key) => exemptions.isExempt(key)).length
    if (!equalBytes(payloadHash, block.header.payloadHash)) this.#report(block, 'its payload has another hash')
    const areRight =
      equalBytes(transactionsHash, payload.transactionsHash) && equalBytes(outputsHash, payload.outputsHash)
    if (!areRight) this.#report(block, 'its payload names wrong hashes of its parts')
  }

  async #visitBlocks(
    blocks: number,
    stopped: AbortSignal | undefined,
    look: (block: Block, number: number) => Promise<void>,
  ): Promise<void> {
    for (let number = 0; number < blocks; number++) {
      if (number % BLOCKS_PER_TURN === 0) {
        this.#onProgress?.({ what: 'checking blocks', done: number, total: blocks })
        await nextTurn()
        stopped?.throwIfAborted()
      }
      const block = this.#store.at(number)
      try {
        await look(block, number)
      } catch (error) {
        this.#report(block, describeError(error))
      }
    }
  }

  #report({ chain, height, id }: Block, message: string): void {
    this.#addFinding(`chain ${chain}, height ${height}, block ${id}: ${message}`)
  }

  #addFinding(finding: string): void {
    this.#findingCount++
    if (this.#findings.length < MAX_FINDINGS) this.#findings.push(finding)
  }
}
