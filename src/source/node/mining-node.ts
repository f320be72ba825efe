/** What a source needs of a node: a few calls of the client, as questions of a miner. */
import { encodeBase64Url, equalBytes } from '../../core/bytes.ts'
import type { Clock } from '../../core/clock.ts'
import { NewcutError } from '../../core/errors.ts'
import { type ForkRules, forkStateOf } from '../../core/fork.ts'
import { headerLayout } from '../../core/header.ts'
import type { Network } from '../../core/network.ts'
import type { MinerAccount } from '../../core/payload.ts'
import type { Work } from '../../core/work.ts'
import type { NodeClient } from '../../node/client.ts'
import { NodeRefusal, NotFound, UnauthorizedMiner } from '../../node/errors.ts'
import type { CallOptions } from '../../node/requests.ts'
import { networkOf } from '../../node/verify-network.ts'
import type { ForkVote } from '../source.ts'
import type { ChainView } from './choice.ts'
import { ForkVotes } from './fork-votes.ts'
import type { ForkWish } from './fork-wish.ts'
import { HeadReader } from './head-reader.ts'
import { limiter } from './limit.ts'

/** Where a block is, as far as a node knows. */
export type Place =
  /** On its chain; `depth` counts from 1, the head. */
  | { readonly kind: 'on-chain'; readonly depth: number }
  /** Known, but its chain goes on without it; `depth`: of the block in its place. */
  | { readonly kind: 'orphaned'; readonly depth: number }
  /** Unknown, and its chain has another block at that height; `depth`: of that one. */
  | { readonly kind: 'passed'; readonly depth: number }
  /** Unknown, and its chain is still lower. */
  | { readonly kind: 'awaited' }

export interface BlockName {
  readonly chain: number
  readonly height: number
  readonly hash: Uint8Array
}

/** Chain -> its head; hashes as in JSON. */
export type CutHeads = ReadonlyMap<number, { readonly height: number; readonly hash: string }>

/** A part of the branch of a head. */
export interface Branch {
  /** Height of the head. */
  readonly head: number
  /** Height -> block hash as in JSON. */
  readonly ids: ReadonlyMap<number, string>
}

export interface NewsHandlers {
  /** The work of the chain is over, or possible again. */
  readonly onNewCut: () => void
  /** The stream stands; what happened before was missed. */
  readonly onOpen: () => void
  /** The stream broke, and is opened anew. */
  readonly onBroken: (error: NewcutError) => void
  readonly signal: AbortSignal
}

/** A node, as a source sees it. All calls throw NewcutError, or the signal's reason. */
export interface MiningNode {
  /** Its address. */
  readonly url: string
  /** One line for people. */
  readonly description: string
  /** Length of the work to expect, in bytes. */
  readonly workBytes: number
  readonly chains: readonly number[]
  /** Which chains are adjacent, by height; without it chains are not told of. */
  readonly graphHistory?: Network['graphHistory']
  /** Work for our account, with the vote that the operator wants; null: of any chain. */
  work(chain: number | null, signal: AbortSignal): Promise<Work>
  /** What the highest of its work votes of which it is known; null: none may vote, or no parent is known yet. */
  forkVote(): ForkVote | null
  /** Hands in solved work bytes. Success says that the node took them, not that they became a block. */
  solved(bytes: Uint8Array, signal: AbortSignal): Promise<void>
  /** Hears of news on a chain until the signal aborts. */
  news(chain: number, handlers: NewsHandlers): void
  /** Calls `run` whenever a connection ends that was to stand, until the signal aborts: the node may have started anew. */
  onLost?(run: () => void, signal: AbortSignal): void
  /** Where the block of this chain, height and hash is. */
  placeOf(block: BlockName, signal: AbortSignal): Promise<Place>
  /** The heads of all its chains. */
  cut(signal: AbortSignal): Promise<CutHeads>
  /** Hashes on the branch of the head of a chain, by height, as in JSON; those that the node has not are left out. */
  branch(chain: number, lowest: number, highest: number, signal: AbortSignal): Promise<Branch>
  /** The headers of a cut that it told. Without it nothing is known of them, and chains are chosen at random. */
  view?(cut: CutHeads, signal: AbortSignal): Promise<ChainView>
  /** The error for the user if the node refuses this miner for good; null for what may pass. */
  finalRefusal(error: unknown, signal: AbortSignal): Promise<NewcutError | null>
}

export interface MiningNodeOptions {
  readonly client: NodeClient
  readonly account: MinerAccount
  readonly clock: Clock
  /** Longest silence of an update stream before it is opened anew; 0: none. */
  readonly stallMs: number
  /** How the network adopts forks, where the node does not say it by its name. */
  readonly forkRules?: ForkRules | undefined
  /** How our work is to vote; default: as the node does. */
  readonly forkWish?: ForkWish | undefined
}

/** Most questions about blocks at once: a node that answers none of them must not cost a connection a solution. */
const MAX_LOOKS = 8

/** A node behind a client. */
export function miningNodeOf({ client, account, clock, stallMs, ...forks }: MiningNodeOptions): MiningNode {
  const { info, http } = client
  const look = limiter(MAX_LOOKS)
  const heads = new HeadReader(client)
  const stateOf = async (chain: number, hash: Uint8Array, signal: AbortSignal) => {
    const header = heads.known(hash) ?? (await look(() => client.header(chain, hash, { signal })))
    return forkStateOf(header.featureFlags)
  }
  const rules = forks.forkRules ?? networkOf(client).network.forks
  const votes = new ForkVotes({ rules, wish: forks.forkWish ?? 'node', stateOf })
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
    solved: (bytes, signal) => client.solved(bytes, { signal }),
    news: (chain, { onBroken, ...handlers }) => {
      client.updates(chain, { ...handlers, onError: onBroken, stallMs, clock })
    },
    onLost: (run, signal) => http.onLost(run, signal),
    placeOf: (block, signal) => look(() => placeOf(client, block, { signal })),
    cut: async (signal) => {
      const { hashes } = await client.cut({ signal })
      return new Map(Object.entries(hashes).map(([chain, head]) => [Number(chain), head]))
    },
    branch: (chain, lowest, highest, signal) => look(() => branchOf(client, { chain, lowest, highest }, { signal })),
    view: (cut, signal) => heads.read(cut, signal),
    finalRefusal: (error, signal) => finalRefusal({ client, account }, error, signal),
  }
}

/** Where a block is, as far as this node knows. Throws what NodeClient throws. */
export async function placeOf(
  client: NodeClient,
  { chain, height, hash }: BlockName,
  call: CallOptions,
): Promise<Place> {
  // The cut first: a block that is in neither the cut read before nor the chain read after is not there.
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

/** Anything may stand before a node and answer in its place: only what the node itself says of this miner is final. */
async function finalRefusal(
  { client, account }: Pick<MiningNodeOptions, 'client' | 'account'>,
  error: unknown,
  signal: AbortSignal,
): Promise<NewcutError | null> {
  if (error instanceof UnauthorizedMiner) {
    const hint = error.isUnknown
      ? error.hint
      : `the node mines for configured accounts only, and compares account (${account.account}), predicate and keys as a whole`
    return new NewcutError('NODE_REFUSED', error.message, { hint, cause: error })
  }
  if (error instanceof NodeRefusal && error.status === 404 && (await client.isMiningDisabled(account, { signal }))) {
    const hint = 'mining is not enabled on that node: its operator has to enable mining coordination'
    return new NewcutError('NODE_REFUSED', error.message, { hint, cause: error })
  }
  return null
}
