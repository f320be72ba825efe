/** Paces a source of nodes without proof of work: blocks at an interval, or when a client orders them. */
import { type BlockOrders, makeBlocksPart } from '#faces/api/make-blocks.ts'
import type { CurrentToken } from '#faces/api/token.ts'
import { NewcutError, operatingError } from '#ground/base/errors.ts'
import { jsonObjectIn } from '#ground/base/json.ts'
import { encodeWork } from '#ground/chain/header.ts'
import { knownNetwork } from '#ground/chain/known-networks.ts'
import { genesisHeight } from '#ground/chain/network.ts'
import { solves } from '#ground/chain/pow.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { BlockCounts } from '#ground/schema/control.ts'
import type { BlockPace } from '#ground/schema/devnet-modes.ts'
import { validatorOf } from '#ground/schema/validator.ts'
import type { Miner } from '#mining/mine/miner.ts'
import { constantPacer } from '#mining/source/paced/constant.ts'
import { type ChainCounts, OnDemandPacer, type RequestedBlock } from '#mining/source/paced/on-demand.ts'
import { isSearchable, PacedSource, type Pacer, searchTooLong } from '#mining/source/paced/paced-source.ts'
import type { ChainChoice, Source } from '#mining/source/source.ts'
import { composeErrors } from '../errors.ts'
import { isDevelopment } from '../payee.ts'
import type { NodesSetup } from '../setup.ts'
import type { ConnectedSource, NodeAccess } from './connected-source.ts'

interface ReachedNodes extends ConnectedSource {
  readonly source: Source & ChainChoice
  readonly node: NodeAccess
}

/**
 * Paces the source of nodes.
 * @throws NewcutError BAD_OPTION for a public network, and for a node that checks proof of work of many hashes
 */
export async function paceNodes(
  { networks = [], chains: wanted }: Pick<NodesSetup, 'networks' | 'chains'>,
  pace: BlockPace,
  reached: ReachedNodes,
  signal: AbortSignal,
): Promise<ConnectedSource> {
  const { network, node } = reached
  refusePublic(network, knownNetwork(network, networks)?.isPublic)
  await refuseHardWork(node, wanted, signal)
  const paceSource = (pacer: Pacer) => new PacedSource({ source: reached.source, pacer, network, chains: wanted })
  if (pace.kind === 'constant') {
    const source = paceSource(constantPacer(systemClock, pace.blockTimeMs, node.client.info.nodeChains.map(Number)))
    return { ...reached, source, choice: source }
  }
  const heights = async (ends: AbortSignal) => {
    const [client = node.client] = node.clients()
    const { hashes } = await client.cut({ signal: ends })
    return new Map(Object.entries(hashes).map(([chain, { height }]) => [Number(chain), height]))
  }
  const pacer = new OnDemandPacer({ clock: systemClock, heights, graphHistory: node.client.graphHistory })
  const source = paceSource(pacer)
  let miner: Pick<Miner, 'paused'> | undefined
  const blockOrders: BlockOrders = {
    make: async (body, ends) => {
      const counts = countsIn(body)
      if (miner?.paused) throw operatingError(composeErrors.minerPaused)
      const blocks = await pacer.make(counts, ends)
      return { ...madeBlocks(blocks), heights: Object.fromEntries(await heights(ends)) }
    },
  }
  const attach = (attached: Miner) => {
    miner = attached
    reached.attach(attached)
  }
  const orders = (token: CurrentToken) => [makeBlocksPart(blockOrders, token)]
  return { ...reached, source, choice: source, orders, attach }
}

/** @param isPublic undefined for a network without a file */
function refusePublic(network: string, isPublic: boolean | undefined): void {
  if (!(isPublic ?? !isDevelopment(network))) return
  const what = isPublic === undefined ? 'a network that newcut does not know' : 'a public network'
  const advice =
    isPublic === undefined
      ? 'if it is yours, describe it with `network-file: FILE` and public: false'
      : 'leave out `pace`'
  throw operatingError(composeErrors.paceOfPublic, { network, what, advice })
}

/**
 * Refuses a node that checks a proof of work of many hashes, as the newest block shows. On a chain without blocks, the
 * first submission shows it.
 */
async function refuseHardWork(
  { client, account }: NodeAccess,
  chains: readonly number[] | undefined,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { fields } = (await client.work(account, chains?.[0], { signal })).work
    if (isSearchable(fields.target)) return
    const parent = await client.header(fields.chainId, fields.parent, { signal })
    const { network } = client.network
    const isMined = Number(parent.height) > genesisHeight(network, fields.chainId)
    if (!isMined || isSearchable(parent.target) || !solves(encodeWork(parent))) return
    throw searchTooLong(network.name, fields.target)
  } catch (error) {
    // Mining reports other failures, and goes on after them.
    if (!(error instanceof NewcutError) || error.code === 'BAD_OPTION') throw error
  }
}

/**
 * Chain -> number of blocks.
 * @throws NewcutError BAD_INPUT
 */
function countsIn(body: string): ChainCounts {
  const counts = jsonObjectIn(body)
  const { accepts, complaint } = validatorOf(BlockCounts)
  if (counts === null || !accepts(counts)) {
    const reason = counts === null ? 'it is not a JSON object' : complaint(counts)
    throw operatingError(composeErrors.wrongBlockCounts, { why: reason })
  }
  return new Map(Object.entries(counts).map(([chain, count]) => [Number(chain), Number(count)]))
}

/** The blocks by chain, in the form of the order of a development node. */
function madeBlocks(blocks: readonly RequestedBlock[]) {
  const byChain: Record<number, { readonly height: number; readonly hash: string }[]> = {}
  for (const { chain, height, hash } of blocks) {
    byChain[chain] ??= []
    byChain[chain].push({ height, hash })
  }
  const counts = Object.fromEntries(Object.entries(byChain).map(([chain, each]) => [chain, each.length]))
  return { made: counts, blocks: byChain }
}
