/** A dry run of the miner: checks everything that could fail at the start, without mining. */

import type { NodeClient } from '#client/node/client.ts'
import { forkStateOf } from '#ground/chain/fork.ts'
import type { Work } from '#ground/chain/work.ts'
import { ForkVotes } from '#mining/source/node/fork-votes.ts'
import { checkSetup } from './miner.ts'
import { paidLine } from './payee.ts'
import { Engines, listenForRigs } from './search/engines.ts'
import type { MinerSetup, NodesSetup } from './setup.ts'
import { connectSource } from './source/connect-source.ts'
import type { ConnectedSource } from './source/connected-source.ts'

/**
 * Requests work from the first node, pool or fleet leader, and looks for the devices. Fails at once if the peer is
 * down. Starts no embedded network, because that accepts every account.
 * @returns lines for people.
 * @throws the NewcutError that mining would throw
 */
export async function tryMiner(setup: MinerSetup, stopped: AbortSignal): Promise<string[]> {
  await checkSetup(setup)
  if (setup.source.kind === 'embedded') return ['network: an embedded one']
  const reached = await connectSource(atOnce(setup), () => undefined, stopped)
  try {
    const { search } = setup
    const { coming, rigs: host } = await new Engines(
      reached.source.workBytes,
      stopped,
      null,
      reached.rigLines,
    ).replacementFor(search)
    const rigs = await listenForRigs(host)
    await rigs?.close()
    if (search.kind === 'leader') await search.link.checkJetStream(search.replicas ?? 1)
    return [
      ...(await sourceLines(setup, reached, stopped)),
      ...(search.kind === 'leader' ? [] : [`devices: ${coming.map(({ name }) => name).join(', ')}`]),
      ...(rigs === null ? [] : [`rigs: they can connect to ${rigs.address}`]),
      ...(rigs === null || rigs.proxies === null ? [] : [`proxies: they can connect to ${rigs.proxies}`]),
    ]
  } finally {
    await reached.close()
  }
}

/** The setup with `failFast`. */
function atOnce(setup: MinerSetup): MinerSetup {
  const source = { ...setup.source, failFast: true }
  return { ...setup, source } as MinerSetup
}

async function sourceLines({ source }: MinerSetup, reached: ConnectedSource, stopped: AbortSignal): Promise<string[]> {
  const { payee, node } = reached
  const { description } = reached.source
  switch (source.kind) {
    case 'pools':
      return [`pool: ${description}`, `paid: ${payee}, by the pool`]
    case 'fleet':
      return [description, `paid: ${payee}, set by the leader`]
    case 'embedded':
      return []
    case 'nodes': {
      if (node === null) throw new Error('a source of nodes has a node')
      const { client, account } = node
      const { work } = await client.work(account, source.chains?.[0], { signal: stopped })
      return [
        `network: ${client.info.nodeVersion}, ${client.info.nodeChains.length} chains, at ${client.http.baseUrl}`,
        paidLine(account),
        `work: chain ${work.fields.chainId} height ${work.fields.height}, ${work.bytes.length} bytes`,
        ...(await voteLines(client, work, source, stopped)),
      ]
    }
  }
}

/** One line with the fork vote of this work, or none if this block does not vote. */
async function voteLines(client: NodeClient, work: Work, setup: NodesSetup, signal: AbortSignal): Promise<string[]> {
  const { forkRulesOf } = await import('./source/nodes.ts')
  const stateOf = async (chain: number, hash: Uint8Array) =>
    forkStateOf((await client.header(chain, hash, { signal })).featureFlags)
  const { forkWish: wish = 'node' } = setup
  const vote = await new ForkVotes({ rules: forkRulesOf(client, setup), choice: wish, stateOf }).voteOf(work, signal)
  if (vote === null) return []
  return [`votes: ${vote.isFor ? 'for' : 'not for'} fork ${vote.fork}${wish === 'node' ? ', as the node votes' : ''}`]
}
