/** Options of `newcut lead` and `newcut fleet`. */
import { nodeUrls, yesNo } from '../values.ts'
import { domain, leaderServers, natsOptions, replicas } from './fleet.ts'
import { logOptions } from './log.ts'
import { mineOptions } from './mine.ts'
import { flagOnly, option } from './row.ts'

export const leadOptions = {
  nats: leaderServers,
  ...natsOptions,
  'nats-replicas': replicas,
  'nats-domain': domain,
  node: option(
    nodeUrls,
    ['http://127.0.0.1:1848'],
    'URL',
    'node to mine for; may be repeated, in order of priority; the same for all leaders of a fleet',
    { group: 'work', plural: 'nodes' },
  ),
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
  http: mineOptions.http,
  'http-token': mineOptions['http-token'],
  ...logOptions,
  'dry-run': flagOnly(
    option(yesNo, false, null, 'try options, NATS, nodes and account, say what rigs would be given, and end', {
      group: 'time',
    }),
  ),
  stall: mineOptions.stall,
  'fail-fast': mineOptions['fail-fast'],
  insecure: mineOptions.insecure,
  ca: mineOptions.ca,
  fingerprint: mineOptions.fingerprint,
}

/** Options of `newcut fleet`. */
export const fleetOptions = {
  nats: leaderServers,
  ...natsOptions,
  json: flagOnly(option(yesNo, false, null, 'as JSON')),
}
