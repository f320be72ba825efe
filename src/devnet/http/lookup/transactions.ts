/** Transactions in blocks: a list of all, and one with everything about it. */
import {
  DEFAULT_LOOKUP_ITEMS,
  type ListedTransaction,
  type TransactionDetails,
  type TransactionPage,
} from '#ground/schema/lookup.ts'
import type { Command } from '../../command/command.ts'
import type { Mempools } from '../../mempool/mempools.ts'
import type { Block } from '../../store/block-store.ts'
import type { TransactionIndex, TransactionPlace } from '../../store/transaction-index.ts'
import { JsonObjectWriter } from '../encode/json-object.ts'
import { placedResult } from '../encode/result-text.ts'
import { RequestRefused } from '../refusal.ts'
import { executedItemOf, pendingItemOf, senderOf } from '../view/command-view.ts'
import { type BlockQuery, createdMs, type SearchedBlock, type SearchedNode, searchBlocks } from './block-search.ts'

const decoder = new TextDecoder()

interface TransactionQuery extends BlockQuery {
  readonly sender?: string | undefined
  readonly status?: 'success' | 'failure' | 'orphaned' | 'pending' | undefined
}

/**
 * The newest transactions first.
 * @param maxBlocks maximum number of blocks that it reads. Default: MAX_SEARCHED
 * @throws RequestRefused
 */
export function transactionPage(
  node: SearchedNode & { readonly pools?: Mempools },
  query: TransactionQuery,
  maxBlocks?: number,
): TransactionPage {
  if (query.status === 'pending') {
    const pending = node.pools === undefined ? [] : pendingIn(node.chains.chainIds, node.pools, query)
    return { transactions: [], pending, next: null, searchedTo: null }
  }
  const { items, next, searchedTo } = searchBlocks(node, query, (each) => transactionsIn(each, query), maxBlocks)
  return { transactions: [...items], next, searchedTo }
}

/** Transactions of the mempools, the newest first. */
function pendingIn(chainIds: readonly number[], pools: Mempools, { chain: only, sender, limit }: TransactionQuery) {
  const wanted = only === undefined ? chainIds : [only]
  return wanted
    .flatMap((chain) => {
      const pending = pools.poolOf(chain).newest(Number.POSITIVE_INFINITY)
      const ofSender = pending.filter(({ command }) => sender === undefined || command.meta.sender === sender)
      return ofSender.map((each) => pendingItemOf({ chain, ...each }))
    })
    .sort((a, b) => b.sinceMs - a.sinceMs)
    .slice(0, limit ?? DEFAULT_LOOKUP_ITEMS)
}

function transactionsIn({ block, isOrphan }: SearchedBlock, { sender, status }: TransactionQuery): ListedTransaction[] {
  return block.payload.transactions.flatMap((each, index) => {
    if (sender !== undefined && senderOf(each) !== sender) return []
    const { key: requestKey, ...told } = executedItemOf(block, each)
    if (status !== undefined && (isOrphan ? 'orphaned' : told.status) !== status) return []
    return [{ requestKey, ...told, index, isOrphan, createdMs: createdMs(block) }]
  })
}

export interface FindingNode extends SearchedNode {
  readonly pools: Mempools
  readonly index: TransactionIndex
}

/** @returns JSON of TransactionDetails, with results as their blocks have them. @throws RequestRefused */
export function transactionText({ chains, ledger, pools, index }: FindingNode, requestKey: string): string {
  if (!/^[\w-]{43}$/.test(requestKey)) {
    const shown = JSON.stringify(requestKey.slice(0, 80))
    throw new RequestRefused(400, `requestKey ${shown}: not 43 characters of base64url`)
  }
  const found = index.find(requestKey).flatMap((place) => {
    const block = chains.store.byId(place.block, place.chain)
    if (block === undefined) return []
    return [{ place, block, isOrphan: !ledger.isOnChain(block.chain, chains.store.recordOf(block)) }]
  })
  const pending = chains.chainIds.find((chain) => pools.poolOf(chain).get(requestKey) !== undefined)
  const waiting = pending === undefined ? undefined : pools.poolOf(pending).get(requestKey)
  if (found.length === 0 && waiting === undefined) {
    throw new RequestRefused(404, `no block and no mempool of this network has a transaction ${requestKey}`)
  }
  const [onChain, orphans] = [found.filter((each) => !each.isOrphan), found.filter((each) => each.isOrphan)]
  const about = { requestKey, pendingOn: pending ?? null } satisfies Partial<TransactionDetails>
  const blocks = [...onChain, ...orphans.toReversed()].map(blockText).join(',')
  const command = signedText(found[0], waiting?.command)
  return new JsonObjectWriter().fields(about).raw('command', command).raw('blocks', `[${blocks}]`).text
}

type IndexedBlock = SearchedBlock & { readonly place: TransactionPlace }

/** The signed command as JSON. */
function signedText(inBlock: IndexedBlock | undefined, pending: Command | undefined): string {
  if (inBlock !== undefined) {
    return decoder.decode(inBlock.block.payload.transactions[inBlock.place.index].transaction)
  }
  const { key: hash = '', sigs = [], cmd = '' } = pending ?? {}
  return JSON.stringify({ hash, sigs, cmd })
}

function blockText({ block, place, isOrphan }: IndexedBlock): string {
  const about = { chain: block.chain, height: block.height, hash: block.id, index: place.index, isOrphan }
  const fields = { ...about, createdMs: createdMs(block) }
  return new JsonObjectWriter().fields(fields).raw('result', resultText(block, place.index)).text
}

const resultText = (block: Block, index: number) => placedResult(block.payload.transactions[index].output, block)
