/** A dry run of the miner: everything that would end it is tried, and nothing is searched. */
import { forkStateOf } from '../core/fork.ts'
import type { Work } from '../core/work.ts'
import type { NodeClient } from '../node/client.ts'
import { ForkVotes } from '../source/node/fork-votes.ts'
import { checkPausing } from './pausing.ts'
import { paidLine } from './payee.ts'
import { Engines, listenForRigs } from './search/engines.ts'
import type { MinerSetup } from './setup.ts'
import { checkOrigin, reachOrigin } from './source/reach.ts'

/**
 * Reaches the nodes and asks the first one for work for the account, or a pool, or the leader of a fleet; and finds the
 * devices. Nothing is waited for. Returns lines for people. Throws NewcutError as mining would.
 */
export async function tryMiner(setup: MinerSetup, stopped: AbortSignal): Promise<string[]> {
  checkOrigin(setup)
  await checkPausing(setup.pausing ?? {})
  const once = { ...setup, node: { ...setup.node, failFast: true } }
  const { source, payee, node, close } = await reachOrigin(once, () => undefined, stopped)
  try {
    const { coming, rigs: rigServer } = await new Engines(source.workBytes, stopped).replacementFor(setup.engines)
    const rigs = await listenForRigs(rigServer)
    await rigs?.close()
    const { engines } = setup
    if (engines.kind === 'fleet') await engines.link.checkJetStream(engines.replicas ?? 1)
    const devices = engines.kind === 'fleet' ? [] : [`devices: ${coming.map(({ name }) => name).join(', ')}`]
    if (setup.fleet !== undefined) return [source.description, `paid: ${payee}, as the leader says`, ...devices]
    if (node === null) return [`pool: ${source.description}`, `paid: ${payee}, by the pool`, ...devices]
    const { client, account } = node
    const { work } = await client.work(account, setup.chains?.[0], { signal: stopped })
    return [
      `network: ${client.info.nodeVersion}, ${client.info.nodeChains.length} chains, at ${client.http.baseUrl}`,
      paidLine(account),
      `work: chain ${work.fields.chainId} height ${work.fields.height}, ${work.bytes.length} bytes`,
      ...(await voteLines(client, work, once, stopped)),
      ...devices,
      ...(rigs === null ? [] : [`rigs: they can connect to ${rigs.address}`]),
    ]
  } finally {
    await close()
  }
}

/** One line with the vote of this work. No line where the rules leave it none. */
async function voteLines(client: NodeClient, work: Work, setup: MinerSetup, signal: AbortSignal): Promise<string[]> {
  const { forkRulesOf } = await import('./source/nodes.ts')
  const stateOf = async (chain: number, hash: Uint8Array) =>
    forkStateOf((await client.header(chain, hash, { signal })).featureFlags)
  const { forkWish: wish = 'node' } = setup
  const vote = await new ForkVotes({ rules: forkRulesOf(client, setup), wish, stateOf }).voteOf(work, signal)
  if (vote === null) return []
  return [`votes: ${vote.isFor ? 'for' : 'not for'} fork ${vote.fork}${wish === 'node' ? ', as the node votes' : ''}`]
}
