/** The embedded node with the mining page on the node's own port. */
import type { MinerAccount } from '../core/payload.ts'
import { startNode } from '../devnet/devnet.ts'
import type { DevnetOptions } from '../devnet/options.ts'
import { NodeClient } from '../node/client.ts'
import { systemClock } from '../platform/clock.ts'
import { addExplorer } from '../web/explorer/page.ts'
import { addMinePage } from '../web/mine-page/page.ts'
import type { Devnet } from './devnet.ts'
import { controlOf } from './devnet-control.ts'
import { machineFor } from './devnet-machine.ts'

/** Like startDevnet, with the mining page on the node's port. The page uses the node over HTTP, like any miner. */
export async function startDevnetWithPage(options: DevnetOptions, account: MinerAccount): Promise<Devnet> {
  let url = ''
  let client: Promise<NodeClient> | null = null
  const connect = async () => {
    client ??= NodeClient.connect({ url })
    try {
      return await client
    } catch (error) {
      // The next request tries again.
      client = null
      throw error
    }
  }
  const close = async () => (await client)?.close()
  const page = { client: connect, onClose: close, account, clock: systemClock, random: Math.random }
  const { devnet } = await startNode(options, machineFor(options), (app) => {
    addMinePage(app, page)
    addExplorer(app, true)
  })
  url = devnet.url
  return Object.assign(devnet, controlOf(url))
}
