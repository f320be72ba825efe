/** Chains, blocks, transactions and balances for the page for developers. */
import { encodeBase64Url } from '#ground/base/bytes.ts'
import { developmentAccounts } from '#ground/chain/development-accounts.ts'
import { graphAt } from '#ground/chain/network.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { difficultyOf } from '#ground/chain/target.ts'
import {
  type AccountView,
  type BlockView,
  type BranchView,
  type HeadView,
  MAX_VIEW_HEIGHTS,
} from '#ground/schema/view.ts'
import { Decimal } from '#language/contracts/values/decimal.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Chains } from '../../rules/chains.ts'
import type { Block } from '../../store/block-store.ts'

/** Approximate number of blocks shown, and the minimum of heights: those that the widest page shows of 20 chains. */
const SHOWN_BLOCKS = 560
const MIN_HEIGHTS = 28
/** Maximum accounts of miners shown. */
const MAX_MINERS = 4

/** Constant properties of the network. */
export function viewedNetwork({ network, checkPow: pow, cut }: Chains, product: string) {
  const height = Math.max(...[...cut.values()].map((head) => Number(head.height)))
  const adjacents = graphAt(network, height).adjacents.map((each) => [...each])
  return { name: network.name, product, pow, adjacents }
}

/** Development accounts, and some of the accounts that mined blocks pay. */
export function viewedAccounts(miners: readonly MinerAccount[]): string[] {
  const paid = miners.slice(0, MAX_MINERS).map(({ account }) => account)
  return [...new Set([...developmentAccounts.map(({ account }) => account), ...paid])]
}

export function headsOf({ cut }: Chains): HeadView[] {
  return [...cut].map(([chain, { height, hash, target }]) => ({
    chain,
    height: Number(height),
    hash: encodeBase64Url(hash),
    difficulty: String(difficultyOf(target) ?? 0n),
  }))
}

/** Lowest height shown. @param heights number of heights; the default depends on the number of chains */
export function lowestShown(
  { cut, store }: Chains,
  heights = Math.min(MAX_VIEW_HEIGHTS, Math.max(MIN_HEIGHTS, Math.floor(SHOWN_BLOCKS / store.chains))),
): number {
  const highest = Math.max(...[...cut.values()].map(({ height }) => Number(height)))
  return Math.max(0, highest - heights + 1)
}

/** All blocks from height `lowest`, ordered by chain. */
export function shownBlocks({ chainIds, store }: Chains, lowest: number): Block[] {
  return chainIds.flatMap((chain) => store.slice(chain, store.positionAtHeight(chain, lowest), store.count(chain)))
}

/** The blocks of each chain from height `lowest` to its head, or only the head if that is lower. */
export function branchesFrom({ cut, store }: Chains, lowest: number): BranchView[] {
  return [...cut].map(([chain, { height, hash }]) => {
    const first = Math.min(lowest, Number(height))
    const blocks: Block[] = []
    let record = store.recordOfHash(hash)
    for (; record >= 0 && store.heightAt(record) >= first; record = store.parentRecord(record)) {
      blocks.push(store.blockAt(record))
    }
    blocks.reverse()
    return {
      chain,
      lowest: blocks[0].height,
      hashes: blocks.map(({ id }) => id),
      createdMs: blocks.map(createdMsOf),
      transactions: blocks.map(({ payload }) => payload.transactions.length),
    }
  })
}

const createdMsOf = ({ header }: Block) => Number(header.creationTime / 1000n)

export function blockView(block: Block): BlockView {
  const { chain, height, id: hash, header, payload } = block
  return {
    chain,
    height,
    hash,
    parent: encodeBase64Url(header.parent),
    adjacents: [...header.adjacents.values()].map((each) => encodeBase64Url(each)),
    createdMs: createdMsOf(block),
    transactions: payload.transactions.length,
  }
}

/** Balances at the heads. Reads a chain again only after its head has changed. */
export class Balances {
  readonly #chains: Chains
  readonly #ledger: Ledger
  readonly #accounts: readonly string[]
  readonly #known = new Map<number, { readonly head: Uint8Array; readonly balances: readonly (string | null)[] }>()

  constructor(chains: Chains, ledger: Ledger, accounts: readonly string[]) {
    this.#chains = chains
    this.#ledger = ledger
    this.#accounts = accounts
  }

  get view(): AccountView[] {
    const columns = [...this.#chains.cut].map(([chain, { hash }]) => this.#onChain(chain, hash))
    return this.#accounts.map((account, i) => ({ account, balances: columns.map((balances) => balances[i]) }))
  }

  #onChain(chain: number, head: Uint8Array): readonly (string | null)[] {
    const known = this.#known.get(chain)
    if (known?.head === head) return known.balances
    const state = this.#ledger.stateOf(chain, this.#chains.store.recordOfHash(head))
    const balances = this.#accounts.map((account) => {
      const balance = state.get<ReadonlyMap<string, unknown>>('table:coin.coin-table', account)?.get('balance')
      return balance instanceof Decimal ? balance.toString() : null
    })
    this.#known.set(chain, { head, balances })
    return balances
  }
}
