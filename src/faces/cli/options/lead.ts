/** Options of `newcut lead` and `newcut fleet`. */
import { nodeUrls, yesNo } from '../values.ts'
import { domain, leaderServers, natsOptions, replicas } from './fleet.ts'
import { logOptions } from './log.ts'
import { mineOptions } from './mine.ts'
import { nodeOptions, tlsOptions } from './node.ts'
import { priceOptions } from './prices.ts'
import { flagOnly, option } from './row.ts'

export const leadOptions = {
  nats: leaderServers,
  ...natsOptions,
  'nats-replicas': replicas,
  'nats-domain': domain,
  node: option(nodeUrls, [nodeOptions.node.fallback], 'URL', 'node to mine for', {
    group: 'node',
    more: 'Repeat it for failover: the first node has the highest priority. All leaders of a fleet must have the same nodes.',
    plural: 'nodes',
  }),
  failback: mineOptions.failback,
  'share-blocks': mineOptions['share-blocks'],
  'public-key': mineOptions['public-key'],
  account: mineOptions.account,
  predicate: mineOptions.predicate,
  chains: mineOptions.chains,
  'fork-vote': mineOptions['fork-vote'],
  'fork-epoch': mineOptions['fork-epoch'],
  blocks: mineOptions.blocks,
  duration: mineOptions.duration,
  confirmations: mineOptions.confirmations,
  state: mineOptions.state,
  ...priceOptions,
  http: mineOptions.http,
  'http-token': mineOptions['http-token'],
  ...logOptions,
  'dry-run': flagOnly(
    option(yesNo, false, null, 'check everything, say what rigs would get', {
      group: 'time',
      more: 'newcut tries options, NATS, nodes and account, and exits.',
    }),
  ),
  stall: mineOptions.stall,
  'fail-fast': mineOptions['fail-fast'],
  'network-file': mineOptions['network-file'],
  ...tlsOptions,
}

/** The options that `newcut lead --help` shows. */
export const commonLeadOptions = [
  'public-key',
  'account',
  'node',
  'failback',
  'chains',
  'nats',
  'fleet-name',
  'blocks',
  'duration',
  'dry-run',
  'confirmations',
  'state',
  'http',
  'http-token',
  'log',
  'log-level',
  'log-file',
] as const satisfies readonly (keyof typeof leadOptions)[]

/** Options of `newcut fleet`. */
export const fleetOptions = {
  nats: leaderServers,
  ...natsOptions,
  json: flagOnly(option(yesNo, false, null, 'print JSON', { group: 'output' })),
}
