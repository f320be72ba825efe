/** The mining page on the HTTP server of a miner. */
import type { FastifyInstance } from 'fastify'
import type { NodeClient } from '#client/node/client.ts'
import { operatingError } from '#ground/base/errors.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { composeErrors } from './errors.ts'
import { isDevelopment, knownAccountsOn } from './payee.ts'

/** Whether to serve the page; `auto` serves it on development networks only. */
export type PageMode = 'auto' | 'on' | 'off'

export const PAGE_PATH = '/mine'

export function isPageOn(mode: PageMode, network: string): boolean {
  return mode === 'on' || (mode === 'auto' && isDevelopment(network))
}

/**
 * @param clients the nodes, the one of the current work first; the caller keeps ownership. While the list is empty, the
 * page's requests fail with NODE_UNREACHABLE.
 * @returns a function that adds the page to a server
 */
export async function pageFor(
  clients: () => readonly NodeClient[],
  account: MinerAccount,
): Promise<(app: FastifyInstance) => void> {
  const { addMinePage } = await import('#faces/web/mine-page/page.ts')
  const client = async () => {
    const [present] = clients()
    if (present === undefined) throw operatingError(composeErrors.noNodeAnswers)
    return present
  }
  const options = { client, others: clients, account, knownAccounts: knownAccountsOn }
  return (app) => addMinePage(app, { ...options, clock: systemClock, random: Math.random })
}
