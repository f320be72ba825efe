/** The calls of a node client that a source needs. */

import type { NodeClient } from '#client/node/client.ts'
import { NodeRefusal, NotFound, UnauthorizedMiner } from '#client/node/errors.ts'
import type { CallOptions } from '#client/node/requests.ts'
import { encodeBase64Url, equalBytes } from '#ground/base/bytes.ts'
import type { Clock } from '#ground/base/clock.ts'
import { type NewcutError, operatingError } from '#ground/base/errors.ts'
import { type ForkRules, forkStateOf } from '#ground/chain/fork.ts'
import { headerLayout } from '#ground/chain/header.ts'
import type { Network } from '#ground/chain/network.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import type { Work } from '#ground/chain/work.ts'
import { sourceErrors } from '../errors.ts'
import type { ForkVote, ForkVoteChoice } from '../source.ts'
import type { ChainView } from './choice.ts'
import { ForkVotes } from './fork-votes.ts'
import { HeadReader } from './head-reader.ts'
import { limiter } from './limit.ts'

/** Position of a block, as far as a node knows. */
export type BlockPosition =
  /** On its chain; `depth` counts from 1, the head. */
  | { readonly kind: 'on-chain'; readonly depth: number }
  /** Known, but not on its chain. `depth` is that of the block in its place. */
  | { readonly kind: 'orphaned'; readonly depth: number }
  /** Unknown, and its chain has another block at that height. `depth` is that of the other block. */
  | { readonly kind: 'passed'; readonly depth: number }
  /** Unknown, and its chain is still lower. */
  | { readonly kind: 'awaited' }

export interface BlockName {
  readonly chain: number
  readonly height: number
  readonly hash: Uint8Array
}

/** Chain -> its head, with a base64url hash. */
export type CutHeads = ReadonlyMap<number, { readonly height: number; readonly hash: string }>

/** A part of the branch below a head. */
export interface Branch {
  /** Height of the head. */
  readonly head: number
  /** Height -> base64url block hash. */
  readonly ids: ReadonlyMap<number, string>
}

export interface NewsHandlers {
  /** The work of the chain is over, or possible again. */
  readonly onNewCut: () => void
  /** The stream is open; earlier events were missed. */
  readonly onOpen: () => void
  /** The stream broke, and reopens. */
  readonly onBroken: (error: NewcutError) => void
  readonly signal: AbortSignal
}

/** A node from the view of a source. All calls throw NewcutError, or the reason of the signal. */
export interface MiningNode {
  /** Base URL. */
  readonly url: string
  /** One line for people. */
  readonly description: string
  /** Expected length of work in bytes. */
  readonly workBytes: number
  readonly chains: readonly number[]
  /** Adjacent chains by height. Without it, chains have no status. */
  readonly graphHistory?: Network['graphHistory']
  /** Requests work for our account, with the operator's vote, of this chain or of any if null. */
  work(chain: number | null, signal: AbortSignal): Promise<Work>
  /** The vote of the highest work with a known vote. Null if no work may vote, or no parent is known. */
  forkVote(): ForkVote | null
  /** Submits solved work. Success means that the node took it, not that it became a block. */
  submit(bytes: Uint8Array, signal: AbortSignal): Promise<void>
  /** Follows the news of a chain until the signal aborts. */
  followNews(chain: number, handlers: NewsHandlers): void
  /** Calls `run` whenever a lasting connection ends, until the signal aborts: the node may have restarted. */
  onLost?(run: () => void, signal: AbortSignal): void
  /** Looks up the position of a block. */
  positionOf(block: BlockName, signal: AbortSignal): Promise<BlockPosition>
  /** The heads of all its chains. */
  cut(signal: AbortSignal): Promise<CutHeads>
  /** Base64url hashes on the branch of a chain's head, by height, without heights that the node lacks. */
  branch(chain: number, lowest: number, highest: number, signal: AbortSignal): Promise<Branch>
  /** The headers of a cut of this node. Without it, chains are chosen at random. */
  view?(cut: CutHeads, signal: AbortSignal): Promise<ChainView>
  /** @returns the error for the user if the node refuses this miner permanently, else null */
  findFinalRefusal(error: unknown, signal: AbortSignal): Promise<NewcutError | null>
}

interface MiningNodeOptions {
  readonly client: NodeClient
  readonly account: MinerAccount
  readonly clock: Clock
  /** Maximum silence of an update stream before it reopens; 0 for no limit. */
  readonly stallMs: number
  /** Fork rules of the network, if its name does not imply them. */
  readonly forkRules?: ForkRules | undefined
  /** Fork vote of our work. Default: that of the node. */
  readonly forkVoteChoice?: ForkVoteChoice | undefined
}

/** Maximum number of concurrent lookups: a node that does not answer them must leave connections for solutions. */
const MAX_LOOKS = 8

/** Mines at the node of a client. */
export function miningNodeOf({ client, account, clock, stallMs, ...forks }: MiningNodeOptions): MiningNode {
  const { info, http } = client
  const look = limiter(MAX_LOOKS)
  const heads = new HeadReader(client)
  const stateOf = async (chain: number, hash: Uint8Array, signal: AbortSignal) => {
    const header = heads.headerOf(hash) ?? (await look(() => client.header(chain, hash, { signal })))
    return forkStateOf(header.featureFlags)
  }
  const rules = forks.forkRules ?? client.network.network.forks
  const votes = new ForkVotes({ rules, choice: forks.forkVoteChoice ?? 'node', stateOf })
  return {
    url: http.baseUrl,
    description: `${info.nodeVersion} (${info.nodeChains.length} chains) at ${http.baseUrl}`,
    workBytes: headerLayout(client.graphHistory.at(-1)?.graph.degree ?? 0).workBytes,
    chains: info.nodeChains.map(Number),
    graphHistory: client.graphHistory,
    work: async (chain, signal) => {
      const { work } = await client.work(account, chain ?? undefined, { signal })
      return votes.cast(work, signal)
    },
    forkVote: () => votes.newest,
    submit: (bytes, signal) => client.solved(bytes, { signal }),
    followNews: (chain, { onBroken, ...handlers }) => {
      client.updates(chain, { ...handlers, onError: onBroken, stallMs, clock })
    },
    onLost: (run, signal) => http.onLost(run, signal),
    positionOf: (block, signal) => look(() => findPosition(client, block, { signal })),
    cut: async (signal) => {
      const { hashes } = await client.cut({ signal })
      return new Map(Object.entries(hashes).map(([chain, head]) => [Number(chain), head]))
    },
    branch: (chain, lowest, highest, signal) => look(() => branchOf(client, { chain, lowest, highest }, { signal })),
    view: (cut, signal) => heads.read(cut, signal),
    findFinalRefusal: (error, signal) => finalRefusal({ client, account }, error, signal),
  }
}

/**
 * Looks up the position of a block.
 * @throws errors of NodeClient
 */
export async function findPosition(
  client: NodeClient,
  { chain, height, hash }: BlockName,
  call: CallOptions,
): Promise<BlockPosition> {
  // Read the cut first: a block in neither this cut nor the branch read later is not there.
  const head = (await client.cut(call)).hashes[chain]
  const id = encodeBase64Url(hash)
  if (head?.hash === id) return { kind: 'on-chain', depth: 1 }
  if (head === undefined || head.height < height) return { kind: 'awaited' }
  const range = { minheight: height, maxheight: height, limit: 1, ...call }
  const { items } = await client.hashBranch(chain, { upper: [head.hash] }, range).page()
  const depth = head.height - height + 1
  if (items[0] === id) return { kind: 'on-chain', depth }
  return { kind: (await isKnown(client, chain, hash, call)) ? 'orphaned' : 'passed', depth }
}

async function branchOf(
  client: NodeClient,
  { chain, lowest, highest }: { readonly chain: number; readonly lowest: number; readonly highest: number },
  call: CallOptions,
): Promise<Branch> {
  const head = (await client.cut(call)).hashes[chain]
  const top = Math.min(highest, head?.height ?? -1)
  if (head === undefined || top < lowest) return { head: head?.height ?? -1, ids: new Map() }
  const range = { minheight: lowest, maxheight: top, limit: top - lowest + 1, ...call }
  const { items } = await client.hashBranch(chain, { upper: [head.hash] }, range).page()
  // Branches descend from their heads.
  return { head: head.height, ids: new Map(items.map((id, i) => [top - i, id])) }
}

async function isKnown(client: NodeClient, chain: number, hash: Uint8Array, call: CallOptions): Promise<boolean> {
  try {
    const header = await client.header(chain, hash, call)
    return equalBytes(header.hash, hash)
  } catch (error) {
    if (error instanceof NotFound) return false
    throw error
  }
}

/** A permanent refusal counts only if the node itself sent it, and no proxy in front of it. */
async function finalRefusal(
  { client, account }: Pick<MiningNodeOptions, 'client' | 'account'>,
  error: unknown,
  signal: AbortSignal,
): Promise<NewcutError | null> {
  if (error instanceof UnauthorizedMiner) {
    if (error.isUnknown) return error
    const { account: name } = account
    return operatingError(sourceErrors.minerNotListed, { reason: error.message, account: name }, error)
  }
  if (error instanceof NodeRefusal && error.status === 404 && (await client.isMiningDisabled(account, { signal }))) {
    return operatingError(sourceErrors.miningDisabled, { reason: error.message }, error)
  }
  return null
}
