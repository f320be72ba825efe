/** A block under construction: its reward, then commands one after the other while there is room. */
import { encodeBase64Url } from '#ground/base/bytes.ts'
import { minerDataJson, PayloadBuilder } from '#ground/chain/payload.ts'
import { Layer, type LayerEntry, type ReadableState } from '#language/contracts/machine/state.ts'
import type { CommandPrintOutput } from '#language/contracts/trace/print-log.ts'
import type { Command } from '../command/command.ts'
import { sha512t256 } from '../rules/digest.ts'
import type { Writes } from '../rules/executions.ts'
import type { StoredPayload } from '../store/payload.ts'
import { noteRequestKeys } from '../store/transaction-index.ts'
import { OUTPUT_LIMITS, type OutputLimits, resultText } from './command-result.ts'
import { executeInBlock } from './execute.ts'
import { payReward, rewardAt } from './gas.ts'
import type { ExecuteNow } from './recorded.ts'
import { attempt } from './runner.ts'
import {
  type ExecutedCommand,
  type ExecuteOptions,
  type ExecutingBlock,
  type RefusedCommand,
  TX_IDS,
} from './transaction.ts'

/** Maximum commands in a block, and their bytes: execution stays short. Live nodes have only the gas limit, which allows 15 MB. */
const MAX_BLOCK_TRANSACTIONS = 512
const MAX_BLOCK_BYTES = 2 * 1024 * 1024

/** Outcome of adding a command: it is in the block, may fit a later one, or never will be in one (and why). */
export type AddOutcome = 'added' | 'left' | { readonly refused: string }

/**
 * Executes a command, like executeInBlock. `running`: it is not done yet, and this draft must wait for it. `busy`: it has
 * not begun, because another command is running.
 */
export type RunCommand = (
  layer: Layer,
  block: ExecutingBlock,
  command: Command,
  options: ExecuteOptions,
) => ExecutedCommand | RefusedCommand | 'running' | 'busy'

/** Executes a command later. The draft must not change meanwhile. */
export type RunLater = (
  layer: Layer,
  block: ExecutingBlock,
  command: Command,
  options: ExecuteOptions,
) => Promise<ExecutedCommand | RefusedCommand>

interface DraftTransaction {
  readonly command: Command
  /** JSON text of the command in the payload. */
  readonly bytes: Uint8Array
}

interface ExecutedEntry {
  readonly transaction: Uint8Array
  readonly output: Uint8Array
}

const encoder = new TextEncoder()

interface DraftLimits {
  readonly limits?: OutputLimits
  /** Maximum gas of its commands. */
  readonly gasLimit?: number | undefined
}

export class PayloadDraft {
  readonly block: ExecutingBlock
  /** Reason why the reward cannot be paid, or null if it was paid. */
  readonly rewardFault: string | null
  readonly #layer: Layer
  readonly #limits: OutputLimits
  readonly #minerData: Uint8Array
  readonly #coinbase: Uint8Array
  readonly #hashes: PayloadBuilder
  readonly #done: ExecutedEntry[] = []
  readonly #keys = new Set<string>()
  readonly #writes: LayerEntry[][] = []
  readonly #printed: CommandPrintOutput[] = []
  #gasLeft: number
  #bytesLeft = MAX_BLOCK_BYTES
  #txId: number
  #payload: StoredPayload | null = null

  /**
   * @param state state after the parent
   * @param chains number of chains of the network
   */
  constructor(
    state: ReadableState,
    block: ExecutingBlock,
    chains: number,
    { limits = OUTPUT_LIMITS, gasLimit = block.context.rules.blockGas }: DraftLimits = {},
  ) {
    this.#gasLeft = gasLimit
    this.block = block
    this.#limits = limits
    this.#layer = new Layer(state)
    this.#txId = state.get<number>('counters', 'tx') ?? 0
    this.#minerData = encoder.encode(minerDataJson(block.miner))
    const { text, fault } = this.#reward(chains)
    this.#coinbase = encoder.encode(text)
    this.rewardFault = fault
    this.#hashes = new PayloadBuilder({ minerData: this.#minerData, coinbase: this.#coinbase }, sha512t256)
  }

  /** Number of commands in it. */
  get size(): number {
    return this.#done.length
  }

  get isFull(): boolean {
    return this.size === MAX_BLOCK_TRANSACTIONS || this.#gasLeft <= 0 || this.#bytesLeft <= 0
  }

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  /** Executes a command at the end of the block by `execute`, if it is valid there and has room. */
  add(transaction: DraftTransaction, execute: ExecuteNow = executeInBlock): AddOutcome {
    const added = this.addBy(execute, transaction)
    if (added === 'running' || added === 'busy') throw new Error('executing here takes no turns')
    return added
  }

  /** Like add, with another way to execute. After `running`, add this command again before any other. */
  addBy(run: RunCommand, transaction: DraftTransaction): AddOutcome | 'running' | 'busy' {
    const { command } = transaction
    const early = this.#early(transaction)
    if (early !== null) return early
    const executed = run(this.#layer, this.block, command, this.#optionsFor(command))
    return executed === 'running' || executed === 'busy' ? executed : this.#take(transaction, executed)
  }

  /** Like add, later. */
  async addLater(run: RunLater, transaction: DraftTransaction): Promise<AddOutcome> {
    const { command } = transaction
    const early = this.#early(transaction)
    if (early !== null) return early
    return this.#take(transaction, await run(this.#layer, this.block, command, this.#optionsFor(command)))
  }

  /** @returns why a command need not be executed, or null */
  #early({ command, bytes }: DraftTransaction): AddOutcome | null {
    const { meta, key } = command
    const { parentTime } = this.block.context
    // Live nodes also refuse a command over 95 s younger than the parent. Here hours may pass between two blocks.
    const created = BigInt(meta.creationTime) * 1_000_000n
    if (parentTime >= created + BigInt(meta.ttl) * 1_000_000n) return { refused: 'Transaction time-to-live is expired' }
    if (this.isFull || bytes.length > this.#bytesLeft) return 'left'
    return this.#keys.has(key) ? 'left' : null
  }

  /** A privileged command has all its gas in every block: its outcome must not depend on who makes the block. */
  #isPrivileged({ key }: Command): boolean {
    return this.block.isPrivileged?.(key) ?? false
  }

  #optionsFor(command: Command): ExecuteOptions {
    const wanted = command.meta.gasLimit
    const gasLimit = this.#isPrivileged(command) ? wanted : Math.min(wanted, this.#gasLeft)
    return { txId: this.#txId, gasLimit, limits: this.#limits }
  }

  #take({ command, bytes }: DraftTransaction, executed: ExecutedCommand | RefusedCommand): AddOutcome {
    if ('refused' in executed) return executed.isFinal ? { refused: executed.refused } : 'left'
    // It may have failed for lack of gas in this block only.
    const hadLess = this.#gasLeft < command.meta.gasLimit && !this.#isPrivileged(command)
    if (executed.hasFailed && hadLess) return 'left'
    this.#keys.add(command.key)
    this.#gasLeft -= executed.gas
    this.#bytesLeft -= bytes.length
    this.#write(executed.layer, TX_IDS)
    if (executed.printed !== undefined) this.#printed.push({ requestKey: command.key, ...executed.printed })
    const done = { transaction: bytes, output: encoder.encode(executed.output) }
    this.#done.push(done)
    this.#hashes.add(done)
    this.#payload = null
    return 'added'
  }

  /** The current payload: the same object until a command is added. */
  get payload(): StoredPayload {
    if (this.#payload === null) {
      const parts = { minerData: this.#minerData, transactions: [...this.#done], coinbase: this.#coinbase }
      this.#payload = { ...parts, ...this.#hashes.hashes }
      noteRequestKeys(this.#payload, [...this.#keys])
    }
    return this.#payload
  }

  /** The printed texts of its commands. */
  get printed(): readonly CommandPrintOutput[] {
    return [...this.#printed]
  }

  /** Writes of the block so far. */
  get writes(): Writes {
    const counter: LayerEntry = { domain: 'counters', key: 'tx', value: this.#txId }
    return [...this.#writes, [counter]]
  }

  /** Pays the reward, and returns its result. If that fails, the chain continues: the result holds the error. */
  #reward(chains: number): { readonly text: string; readonly fault: string | null } {
    const { context, miner } = this.block
    const layer = new Layer(this.#layer)
    const paid = attempt(() => payReward(layer, context, miner, rewardAt(context.height, chains)))
    const hasFailed = 'error' in paid
    const txId = this.#txId
    const text = resultText({
      gas: 0,
      result: hasFailed ? paid : { value: context.rules.coinbase.isReturned ? paid.value.value : 'Write succeeded' },
      key: encodeBase64Url(encoder.encode(context.parentHash)),
      writes: hasFailed ? null : layer.entries(),
      events: hasFailed ? [] : paid.value.events,
      metaData: 'null',
      pact: null,
      txId: hasFailed ? null : txId,
    })
    if (!hasFailed) this.#write(layer, 1)
    else this.#txId++
    return { text, fault: hasFailed ? paid.error.wireMessage : null }
  }

  #write(layer: Layer, txIds: number): void {
    this.#writes.push(layer.entries())
    layer.mergeInto(this.#layer)
    this.#txId += txIds
  }
}
