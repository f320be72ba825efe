/** The embedded node with the mining page on the node's own port. */

import { NodeClient } from '#client/node/client.ts'
import { withControl } from '#devnet/control-client.ts'
import { startNode } from '#devnet/devnet.ts'
import type { DevnetOptions } from '#devnet/options/devnet-options.ts'
import { addExplorer } from '#faces/web/explorer/page.ts'
import type { GatewayOptions } from '#faces/web/mine-page/gateway.ts'
import { addMinePage } from '#faces/web/mine-page/page.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { systemClock } from '#ground/platform/clock.ts'
import type { Devnet } from './devnet.ts'
import { machineFor } from './devnet-machine.ts'
import { knownAccountsOn } from './payee.ts'

/** Like startDevnet, with the mining page on the node's port. The page uses the node over HTTP, like any miner. */
export async function startDevnetWithPage(options: DevnetOptions, account: MinerAccount): Promise<Devnet> {
  let url = ''
  const { devnet } = await startNode(options, machineFor(options), (app) => {
    const options = { ...clientOf(() => url), account, knownAccounts: knownAccountsOn }
    addMinePage(app, { ...options, clock: systemClock, random: Math.random })
    addExplorer(app, true)
  })
  url = devnet.url
  return withControl(devnet)
}

/** A client of the node for the page, connected at its first use. Each network of the node has its own. */
function clientOf(url: () => string): Pick<GatewayOptions, 'client' | 'onClose'> {
  let client: Promise<NodeClient> | null = null
  const connect = async () => {
    client ??= NodeClient.connect({ url: url() })
    try {
      return await client
    } catch (error) {
      // The next request tries again.
      client = null
      throw error
    }
  }
  return { client: connect, onClose: async () => (await client)?.close() }
}
