/** The page that mines, on the embedded node's own port or beside the metrics of a miner. */
import type { FastifyInstance } from 'fastify'
import { NewcutError } from '../core/errors.ts'
import type { MinerAccount } from '../core/payload.ts'
import { type Devnet, startNode } from '../devnet/devnet.ts'
import type { DevnetOptions } from '../devnet/options.ts'
import { NodeClient } from '../node/client.ts'
import { addExplorer } from '../page/explorer.ts'
import { addMinePage } from '../page/page.ts'
import { systemClock } from '../platform/clock.ts'
import { machineFor } from './devnet-machine.ts'
import { isDevelopment } from './payee.ts'

/** Whether the page is served; `auto`: on development networks only. */
export type PageMode = 'auto' | 'on' | 'off'

export const PAGE_PATH = '/mine'

export function isPageOn(mode: PageMode, network: string): boolean {
  return mode === 'on' || (mode === 'auto' && isDevelopment(network))
}

/**
 * Adds the page for these nodes, the one that gives work now first; they stay the caller's. Its requests are answered
 * with an error while there is none.
 */
export function pageFor(clients: () => readonly NodeClient[], account: MinerAccount): (app: FastifyInstance) => void {
  const client = async () => {
    const [present] = clients()
    if (present === undefined) throw new NewcutError('NODE_UNREACHABLE', 'no node answers')
    return present
  }
  return (app) => addMinePage(app, { client, others: clients, account, clock: systemClock, random: Math.random })
}

/** As startDevnet, with the page on the node's own port. It reaches the node over HTTP, like any miner. */
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
  return devnet
}
