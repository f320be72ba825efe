/** Pending and executed commands for the page for developers. */
import type { PendingView } from '#ground/schema/lookup.ts'
import type { ExecutedView, PoolView } from '#ground/schema/view.ts'
import type { Command } from '../../command/command.ts'
import { readStored } from '../../command/read.ts'
import type { Mempools } from '../../mempool/mempools.ts'
import type { Chains } from '../../rules/chains.ts'
import type { Block } from '../../store/block-store.ts'

const MAX_PENDING = 12
const MAX_EXECUTED = 40
/** Blocks that are searched for commands at most, after a time without readers. */
const MAX_SEARCHED = 25_000
const MAX_TEXT_LENGTH = 160

const decoder = new TextDecoder()
const shorten = (text: string) => (text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text)

interface CommandSummary {
  readonly sender: string
  readonly what: string
}

/** Sender and content of a command. */
function summaryOf({ meta, payload }: Command): CommandSummary {
  const what = payload.kind === 'exec' ? payload.code.text : `step ${payload.step} of ${payload.pactId}`
  return { sender: shorten(meta.sender), what: shorten(what) }
}

interface PendingItem {
  readonly key: string
  readonly chain: number
  readonly command: Command
  readonly gasPrice: number
  readonly sinceMs: number
}

/** One command of a mempool, in short. */
export function pendingItemOf({ key, chain, command, gasPrice, sinceMs }: PendingItem): PendingView {
  const { gasLimit } = command.meta
  return { key, chain, ...summaryOf(command), gasPrice, gasLimit, sinceMs: Math.floor(sinceMs) }
}

/** View of the mempools, rebuilt only after a change. */
export class PoolWatch {
  readonly #pools: Mempools
  readonly #chains: readonly number[]
  #isKnown = false
  #view: PoolView = { sizes: [], newest: [] }
  readonly stop: () => void

  constructor(pools: Mempools, chains: readonly number[]) {
    this.#pools = pools
    this.#chains = chains
    this.stop = pools.onChange(() => {
      this.#isKnown = false
    })
  }

  get view(): PoolView {
    // Reading the size also drops expired transactions.
    const sizes = this.#chains.map((chain) => this.#pools.poolOf(chain).size)
    if (!this.#isKnown) {
      const newest = this.#chains
        .flatMap((chain) =>
          this.#pools
            .poolOf(chain)
            .newest(MAX_PENDING)
            .map((each) => ({ chain, ...each })),
        )
        .sort((a, b) => b.sinceMs - a.sinceMs)
        .slice(0, MAX_PENDING)
        .map(pendingItemOf)
      this.#view = { sizes, newest }
      this.#isKnown = true
    }
    return this.#view
  }
}

type ExecutedItem = Omit<ExecutedView, 'isOrphan'>

/** The commands that blocks executed last. */
export class ExecutedCommands {
  readonly #chains: Chains
  /** Newest first. */
  #newest: readonly ExecutedItem[] = []

  constructor(chains: Chains) {
    this.#chains = chains
  }

  forget(): void {
    this.#newest = []
  }

  /**
   * Adds new blocks, newest first, until the list is full of their commands. Empty blocks cost a look, and no more than
   * 25,000 get one. Skips genesis blocks: nobody sent their commands.
   */
  add(blocks: Iterable<Block>): void {
    const added: ExecutedItem[] = []
    let searched = 0
    for (const block of blocks) {
      if (added.length >= MAX_EXECUTED || searched++ >= MAX_SEARCHED) break
      if (block.height === 0) continue
      const { transactions } = block.payload
      for (const each of transactions.slice(-MAX_EXECUTED).toReversed()) added.push(executedItemOf(block, each))
    }
    if (added.length > 0) this.#newest = [...added, ...this.#newest].slice(0, MAX_EXECUTED)
  }

  /** Newest first; `isOrphan` is that of the current cut. */
  get view(): ExecutedView[] {
    const onChain = new Map<string, boolean>()
    return this.#newest.map((each) => {
      const isOnChain = onChain.get(each.block) ?? this.#isOnChain(each)
      onChain.set(each.block, isOnChain)
      return { ...each, isOrphan: !isOnChain }
    })
  }

  #isOnChain({ chain, height, block }: ExecutedItem): boolean {
    const head = this.#chains.cut.get(chain)
    if (head === undefined || Number(head.height) < height) return false
    const { store } = this.#chains
    const [from, to] = [store.recordOfHash(head.hash), store.byId(block, chain)]
    return to !== undefined && store.ancestorAt(from, height) === store.recordOf(to)
  }
}

/** Account that pays for a command of a block. */
export const senderOf = ({ transaction }: Block['payload']['transactions'][number]) =>
  readStored(transaction).meta.sender

/** One command of a block, in short. */
export function executedItemOf(
  block: Block,
  { transaction, output }: Block['payload']['transactions'][number],
): ExecutedItem {
  const command = readStored(transaction)
  const { gas, result } = JSON.parse(decoder.decode(output)) as {
    readonly gas: number
    readonly result: { readonly status: string; readonly error?: { readonly message: string } }
  }
  const { chain, height, id } = block
  const fault = result.error === undefined ? {} : { fault: shorten(result.error.message) }
  return { key: command.key, chain, height, block: id, ...summaryOf(command), status: result.status, gas, ...fault }
}
