/** A dry run of the miner: everything that would end it is tried, and nothing is searched. */
import { createEngines, listenForRigs } from './engines.ts'
import { checkChains, type MinerSetup } from './miner.ts'
import { reachNodes } from './nodes.ts'
import { accountOn, checkPayee, paidLine } from './payee.ts'

/**
 * Reaches the nodes, asks the first one for work for the account, and finds the devices. Nothing is waited for. Returns
 * lines for people. Throws NewcutError as mining would.
 */
export async function tryMiner(setup: MinerSetup, stopped: AbortSignal): Promise<string[]> {
  checkPayee(setup.payee)
  const nodes = await reachNodes({ ...setup, node: { ...setup.node, failFast: true } }, () => undefined, stopped)
  try {
    const { client } = nodes
    checkChains(setup.chains, client)
    const account = accountOn(client.info.nodeVersion, setup.payee)
    const source = nodes.sourceFor(account)
    const { work } = await client.work(account, setup.chains?.[0], { signal: stopped })
    const engines = await createEngines(setup.engines, source.workBytes, stopped)
    const rigs = await listenForRigs(engines)
    await rigs?.close()
    return [
      `network: ${client.info.nodeVersion}, ${client.info.nodeNumberOfChains} chains, at ${client.http.baseUrl}`,
      paidLine(account),
      `work: chain ${work.fields.chainId} height ${work.fields.height}, ${work.bytes.length} bytes`,
      `devices: ${engines.map(({ name }) => name).join(', ')}`,
      ...(rigs === null ? [] : [`rigs: they can connect to ${rigs.address}`]),
    ]
  } finally {
    await nodes.close()
  }
}
