/** The embedded node with the mining page on the node's own port. */
import type { MinerAccount } from '../core/payload.ts'
import { withControl } from '../devnet/control-client.ts'
import { startNode } from '../devnet/devnet.ts'
import type { DevnetOptions } from '../devnet/options/devnet-options.ts'
import { NodeClient } from '../node/client.ts'
import { systemClock } from '../platform/clock.ts'
import { addExplorer } from '../web/explorer/page.ts'
import type { GatewayOptions } from '../web/mine-page/gateway.ts'
import { addMinePage } from '../web/mine-page/page.ts'
import type { Devnet } from './devnet.ts'
import { machineFor } from './devnet-machine.ts'

/** Like startDevnet, with the mining page on the node's port. The page uses the node over HTTP, like any miner. */
export async function startDevnetWithPage(options: DevnetOptions, account: MinerAccount): Promise<Devnet> {
  let url = ''
  const { devnet } = await startNode(options, machineFor(options), (app) => {
    addMinePage(app, { ...clientOf(() => url), account, clock: systemClock, random: Math.random })
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
