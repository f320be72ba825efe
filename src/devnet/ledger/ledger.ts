/**
 * Executes blocks: rewards, commands, and the state after each block, on every branch. A block that this node makes is
 * executed once, while it grows; a block of others, when it arrives.
 */

import { equalBytes } from '#ground/base/bytes.ts'
import { operatingError } from '#ground/base/errors.ts'
import { forkStateOf } from '#ground/chain/fork.ts'
import type { Header } from '#ground/chain/header.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { spvWindow } from '#ground/chain/spv-window.ts'
import { evalError } from '#language/contracts/errors.ts'
import type { LayerEntry, ReadableState } from '#language/contracts/machine/state.ts'
import type { PrintOutput } from '#language/contracts/trace/print-log.ts'
import type { ObjectValue } from '#language/contracts/values/value.ts'
import type { Command } from '../command/command.ts'
import type { ExecutedPayload, ExecutionFault, Executions } from '../rules/executions.ts'
import type { Block } from '../store/block-store.ts'
import type { StoredPayload } from '../store/payload.ts'
import type { PrintingCall, PrintReporter } from '../store/print-reporter.ts'
import { type BlockContext, contextOn } from './block-context.ts'
import { BlockState } from './block-state.ts'
import { Branches } from './branches.ts'
import { NO_OUTPUT_LIMITS, OUTPUT_LIMITS, type OutputLimits } from './command-result.ts'
import { verifyContinuationProof } from './continuation-proof.ts'
import { textsOf } from './copied-base.ts'
import { PayloadDraft } from './draft.ts'
import { ledgerErrors } from './errors.ts'
import {
  executePayload,
  executePayloadAsRecorded,
  executePayloadLater,
  type PayloadExecution,
} from './execute-payload.ts'
import { type Genesis, genesisIn, genesisOf } from './genesis.ts'
import type { BeginOptions, ForeignBlockExecutor, LedgerOptions } from './ledger-options.ts'
import { codeFault, gasFault, NO_MINER, pactFault, payerFault, runLocally, runPreflight } from './local.ts'
import type { ProofCheck, VerifyingBlock } from './output-proof.ts'
import { hasPlainPayer, isPlainCommand } from './plain-command.ts'
import { provenPact } from './proven-pact.ts'
import type { ProofReader } from './transaction.ts'
import { type ProvenResult, verifySpv } from './verify-spv.ts'

/** A command result in a block. */
export interface FoundResult {
  readonly block: Block
  /** Position among the commands of the block. */
  readonly index: number
  /** JSON text of the result. */
  readonly output: Uint8Array
}

/** Outcome of a call with preflight. */
export type Preflight =
  /** JSON text of the result. `isPlain`: without preflight. */
  | { readonly text: string; readonly isPlain: boolean }
  /** Nobody can pay. */
  | { readonly refused: string }

const decoder = new TextDecoder()

export class Ledger implements Executions {
  /** First block of the network. */
  readonly genesis: Genesis
  readonly #options: LedgerOptions
  /** Whether a file of the network has its coin contract, so that its calls may take any time. */
  readonly #hasOwnCoin: boolean
  /** Whether an older newcut began the network, under other rules. */
  readonly #isOlder: boolean
  readonly #branches: Branches
  /** Payloads executed here that may become blocks. */
  readonly #executed = new WeakMap<
    StoredPayload,
    (ExecutedPayload | ExecutionFault) & { readonly parent: Uint8Array }
  >()
  #others: ForeignBlockExecutor | null = null
  /** One-entry cache: pollers mostly ask about the same block. */
  #lastFound: Block | null = null
  /** Chain -> the last context below its head. */
  readonly #seen = new Map<number, { readonly record: number; readonly context: BlockContext }>()

  constructor(options: LedgerOptions) {
    const { rules, store, fork } = options
    const begun = genesisOf(store.chains, fork === undefined ? rules.genesis : null)
    this.genesis = genesisIn(store)
    this.#isOlder = this.genesis !== begun
    this.#options = options
    this.#hasOwnCoin = rules.genesis !== null
    this.#branches = new Branches(options.store, options.heads)
  }

  /**
   * Begins the next block of a chain, on any parent in the store.
   * @param gasLimit maximum gas of its commands; default: what the network allows
   * @param isPrintAllowed whether its code may call `print`; default: as the node allows it
   */
  begin(
    parent: Header,
    miner: MinerAccount,
    { limits = OUTPUT_LIMITS, gasLimit, isPrintAllowed }: BeginOptions = {},
  ): PayloadDraft {
    const context = this.#contextOn(parent, isPrintAllowed)
    const { exemptions } = this.#options
    const isPrivileged = (key: string) => exemptions?.isPrivileged(key) ?? false
    const block = { context, miner, readProof: this.#readProof, isPrivileged }
    return new PayloadDraft(this.#stateAfter(parent), block, this.#options.store.chains, { limits, gasLimit })
  }

  /** The current payload of a draft. Remembers its writes for `judge`. */
  payloadOf(draft: PayloadDraft, parent: Header): StoredPayload {
    const { payload } = draft
    if (!this.#executed.has(payload)) {
      this.#executed.set(payload, { parent: parent.hash, writes: draft.writes, printed: draft.printed })
    }
    return payload
  }

  judge(parent: Header, payload: StoredPayload): ExecutedPayload | ExecutionFault {
    const known = this.#executed.get(payload)
    if (known !== undefined && equalBytes(known.parent, parent.hash)) return known
    return executePayload(this.#executionOn(parent), payload)
  }

  async prepare(parent: Header, payload: StoredPayload): Promise<void> {
    const known = this.#executed.get(payload)
    if (this.#others === null || (known !== undefined && equalBytes(known.parent, parent.hash))) return
    const { run, verify } = this.#others
    if (this.#options.rules.release.hasSlhDsa) await verify(parent.chainId, payload)
    const judged = await this.#complete(() => executePayloadLater(this.#executionOn(parent), payload, run))
    this.#executed.set(payload, { parent: parent.hash, ...judged })
  }

  /** Runs until nothing of a forked network is missing. */
  async #complete<T>(run: () => T | Promise<T>): Promise<T> {
    const { fork } = this.#options
    return fork === undefined ? run() : fork.complete(run, [])
  }

  /** Reads the state after the head of a chain, once nothing of a forked network is missing. */
  async read<T>(chain: number, read: (state: ReadableState) => T): Promise<T> {
    return this.#complete(() => read(this.base(chain, 0).state))
  }

  /** Fetches what a command reads of a forked network, so that the next block of its chain finds everything. */
  async warm(chain: number, transaction: Parameters<PayloadDraft['add']>[0]): Promise<void> {
    const { fork, store } = this.#options
    const { header } = store.blockAt(this.#branches.head(chain))
    await fork?.complete(() => this.begin(header, NO_MINER).add(transaction), textsOf(transaction.command))
  }

  /** Null if code may not call `print`. */
  get prints(): PrintReporter | null {
    return this.#options.prints?.isAllowed ? this.#options.prints : null
  }

  /** Executes blocks of others in this way, instead of at once. */
  runOthersBy(others: ForeignBlockExecutor): void {
    this.#others = others
  }

  #executionOn(parent: Header, options: BeginOptions = {}): PayloadExecution {
    const { check } = this.#options
    return {
      begin: (miner) => this.begin(parent, miner, options),
      check: (command) => check(command, parent) ?? this.#repeatFault(parent, command.key),
    }
  }

  /**
   * Executes a block of the store again to record its writes.
   * @throws NewcutError DATA_UNUSABLE if the outputs differ from those of the block
   */
  replay(block: Block): void | Promise<void> {
    const { fork } = this.#options
    if (fork === undefined) this.#replay(block)
    else return fork.complete(() => this.#replay(block), [])
  }

  #replay(block: Block): void {
    const parent = this.#options.store.parentOf(block)
    const judged = parent === undefined ? { fault: 'it has no parent' } : this.#judgeAgain(parent.header, block)
    if ('fault' in judged) {
      throw operatingError(ledgerErrors.otherExecution, { block: block.id, fault: judged.fault })
    }
    this.#keep(block, judged)
  }

  /**
   * Like judge, for a block that was in the data directory before. In a network that an older newcut began, its gas and
   * outputs hold as recorded.
   */
  judgeStored(parent: Header, block: Block): ExecutedPayload | ExecutionFault {
    const { payload } = block
    const judged = executePayload(this.#executionOn(parent, { isPrintAllowed: this.hasPrints(block) }), payload)
    if (!('fault' in judged) || !this.#isOlder) return judged
    return executePayloadAsRecorded(this.#executionOn(parent, { limits: NO_OUTPUT_LIMITS }), payload)
  }

  recordWrites(block: Block, judged: ExecutedPayload): void {
    this.#keep(block, judged)
    this.#options.prints?.reportBlock(block, judged.printed ?? [])
  }

  /** Whether code of a block names or calls `print`, so that the block executes only where that is allowed. */
  hasPrints(block: Block): boolean {
    return this.#options.exemptions?.blockPrints(block.id) ?? false
  }

  /** Takes what a call printed that is in no block. */
  reportPrints(call: PrintingCall, printed: PrintOutput): void {
    this.#options.prints?.reportCall(call, printed)
  }

  #keep(block: Block, { writes }: ExecutedPayload): void {
    const { store, versions } = this.#options
    versions.add(block.chain, store.recordOf(block), lastOfEach(writes.flat()))
  }

  followHead(head: Header): void {
    this.#branches.follow(head)
  }

  /** Whether a command cannot take long whatever the state, so that it needs no thread. */
  isPlain(state: ReadableState, command: Command): boolean {
    return !this.#hasOwnCoin && isPlainCommand(state, this.genesis.state, command)
  }

  /** Whether buying the gas of a command cannot take long. */
  hasPlainPayer(state: ReadableState, command: Command): boolean {
    return !this.#hasOwnCoin && hasPlainPayer(state, this.genesis.state, command)
  }

  /** Plain /local, on top of the block `rewindDepth` below the head. @returns JSON text of the result */
  local(chain: number, command: Command, rewindDepth = 0): string {
    const { context, state } = this.base(chain, rewindDepth)
    return runLocally(state, context, command, this.#readProof)
  }

  /** Preflight: executes the command as a block without a miner would. @returns JSON text of the result */
  preflight(chain: number, command: Command, rewindDepth = 0): string {
    const { context, state } = this.base(chain, rewindDepth)
    return runPreflight(state, context, command, this.#readProof)
  }

  /** Preflight as clients see it: code that does not parse is reported in the plain form, without preflight. */
  preflightAsSent(chain: number, command: Command, depth: number): Preflight {
    if (codeFault(command) !== null) return { text: this.local(chain, command, depth), isPlain: true }
    const refused = this.payerFault(chain, command, depth)
    return refused === null ? { text: this.preflight(chain, command, depth), isPlain: false } : { refused }
  }

  /** @returns why the gas of a command cannot be bought at the head, in the words of live nodes, or null if it can */
  gasFault(chain: number, command: Command): string | null {
    const { context, state } = this.base(chain, 0)
    return gasFault(state, context, command)
  }

  /** @returns why the payer of the gas of a command does not exist `rewindDepth` below the head, or null if it does */
  payerFault(chain: number, command: Command, rewindDepth = 0): string | null {
    const { context, state } = this.base(chain, rewindDepth)
    return payerFault(state, context, command)
  }

  /**
   * Refuses continuations of finished pacts, in releases that do so.
   * @returns null if the pact continues, or if the command is not a continuation
   */
  pactFault(chain: number, command: Command): string | null {
    if (!this.#options.rules.release.refusesFinishedPacts) return null
    return pactFault(this.base(chain, 0).state, command)
  }

  /**
   * Finds the result of a command on the branch of the head of a chain.
   * @param confirmationDepth least number of blocks on top of the one with the result
   */
  result(chain: number, requestKey: string, confirmationDepth = 0): FoundResult | null {
    const { store, index } = this.#options
    const highest = store.heightAt(this.#branches.head(chain)) - confirmationDepth
    for (const place of index.find(requestKey)) {
      if (place.chain !== chain || place.height > highest) continue
      const block = this.#lastFound?.id === place.block ? this.#lastFound : store.byId(place.block, chain)
      if (block === undefined || !this.#branches.isOnMain(chain, store.recordOf(block))) continue
      this.#lastFound = block
      return { block, index: place.index, output: block.payload.transactions[place.index].output }
    }
    return null
  }

  /** Whether a block is on the branch of the head of its chain. @param record number of the block */
  isOnChain(chain: number, record: number): boolean {
    return this.#branches.isOnMain(chain, record)
  }

  /** The state after a block. */
  stateOf(chain: number, record: number): BlockState {
    return new BlockState(
      { versions: this.#options.versions, branches: this.#branches, genesis: this.#baseOf(chain) },
      { chain, record },
    )
  }

  /** State below the first blocks of a chain. */
  #baseOf(chain: number): ReadableState {
    return this.#options.fork?.stateOf(chain) ?? genesisIn(this.#options.store, chain).state
  }

  #contextOn(parent: Header, isPrintAllowed = this.#options.prints?.isAllowed ?? false): BlockContext {
    const rules = { ...this.#options.rules.on(parent), areHashesOfText: this.genesis.areHashesOfText }
    const context = { ...contextOn(parent.chainId, parent, rules), ...(isPrintAllowed && { isPrintAllowed }) }
    return { ...context, spv: (type, proof) => this.verifySpv(context, type, proof) }
  }

  /** Context and state for commands `depth` blocks below the head of a chain. */
  base(chain: number, depth: number): { readonly context: BlockContext; readonly state: BlockState } {
    const record = this.#branches.recordBelow(chain, depth)
    const seen = this.#seen.get(chain)
    const isSeen = seen?.record === record
    const context = isSeen ? seen.context : this.#contextOn(this.#options.store.blockAt(record).header)
    if (!isSeen) this.#seen.set(chain, { record, context })
    return { context, state: this.stateOf(chain, record) }
  }

  /** Tries the current rules, then none of the limits of outputs, then the gas and outputs of older rules. */
  #judgeAgain(parent: Header, block: Block): ExecutedPayload | ExecutionFault {
    const { payload } = block
    const isPrintAllowed = this.hasPrints(block)
    const within = (limits: OutputLimits): PayloadExecution => {
      return { begin: (miner) => this.begin(parent, miner, { limits, isPrintAllowed }), check: () => null }
    }
    const judged = executePayload(within(OUTPUT_LIMITS), payload)
    if (!('fault' in judged)) return judged
    const unlimited = executePayload(within(NO_OUTPUT_LIMITS), payload)
    if (!('fault' in unlimited) || !this.#isOlder) return unlimited
    return executePayloadAsRecorded(within(NO_OUTPUT_LIMITS), payload)
  }

  #stateAfter(parent: Header): BlockState {
    return this.stateOf(parent.chainId, this.#options.store.recordOfHash(parent.hash))
  }

  /** Verifies a proof of another chain. @returns the proven command result, or the error in the words of live nodes */
  verify(context: BlockContext, proof: string): { readonly output: string } | { readonly fault: string } {
    const verified = verifyContinuationProof(this.#options.store, { ...this.#proofPlaceOf(context), proof })
    return 'fault' in verified ? verified : { output: decoder.decode(verified.output) }
  }

  /** Verifies a proof for the native `verify-spv`. */
  verifySpv(context: BlockContext, type: string, object: ObjectValue, isKnown?: ProofCheck): ProvenResult {
    return verifySpv(this.#options.store, { ...this.#proofPlaceOf(context), isKnown }, type, object)
  }

  /** Pact that a proof of another chain proves to a block. @throws ContractError */
  readonly #readProof: ProofReader = (evaluator, context, proof) => {
    const verified = this.verify(context, proof)
    if ('fault' in verified) throw evalError(`Continuation error: ${verified.fault}`)
    return provenPact(evaluator, verified.output)
  }

  /** Where proofs of other chains must hold. */
  #proofPlaceOf({ chain, parentHash }: BlockContext): VerifyingBlock {
    const parent = this.#options.store.byId(parentHash, chain)
    if (parent === undefined) throw new Error(`no block ${parentHash} in the store`)
    const forkNumber = forkStateOf(parent.header.featureFlags).number
    const window = spvWindow(this.#options.rules.network, parent.height, forkNumber)
    return { chain, parent, window, isBelowPin: this.#belowPinOf(chain) }
  }

  /** Whether headers are at or below the pin of a chain; undefined for a chain that was not forked. */
  #belowPinOf(chain: number): VerifyingBlock['isBelowPin'] {
    const { fork, store } = this.#options
    const state = fork?.stateOf(chain)
    if (state == null) return undefined
    const first = store.slice(chain, 0, 1)[0]?.id
    return (root) =>
      root === first || (store.byId(root, chain) === undefined && state.get('headers', root) !== undefined)
  }

  /** @returns the reason for a refusal if the command is already on the branch of `parent`, otherwise null */
  #repeatFault(parent: Header, key: string): string | null {
    const { store, index } = this.#options
    const record = store.recordOfHash(parent.hash)
    for (const place of index.find(key)) {
      const block = place.chain === parent.chainId ? store.byId(place.block, place.chain) : undefined
      if (block !== undefined && this.#branches.isAncestor(store.recordOf(block), record)) {
        return `the transaction ${key} is in block ${place.block} already`
      }
    }
    return null
  }
}

/** The last value of each entry. */
function lastOfEach(entries: readonly LayerEntry[]): Iterable<LayerEntry> {
  const last = new Map<string, LayerEntry>()
  for (const entry of entries) last.set(`${entry.domain}\0${entry.key}`, entry)
  return last.values()
}
