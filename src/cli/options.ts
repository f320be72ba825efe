/**
 * Every option in one table: flag, environment variable (NEWCUT_ and the name in capitals) and configuration key are
 * derived from its name.
 */
import { availableParallelism } from 'node:os'
import { developmentAccounts } from '../core/development-accounts.ts'
import { MAX_CASTING_BLOCKS } from '../core/fork.ts'
import { graphNames, MAX_CHAINS } from '../core/graph.ts'
import { development } from '../core/network.ts'
import { kernelPreferences } from '../engine/cpu/names.ts'
import { priorities } from '../engine/cpu/priority.ts'
import { defaultLimits, MAX_SESSIONS } from '../engine/stratum/limits.ts'
import { nodeReleases } from '../schema/node-releases.ts'
import { forkWishes } from '../source/node/fork-wish.ts'
import { domain, leaderServers, natsOptions, replicas, rigOptions } from './fleet-options.ts'
import { logOptions } from './log-options.ts'
import { flagOnly, option, unset } from './option-spec.ts'
import {
  autoMineMode,
  bearerToken,
  certificateFingerprint,
  chainList,
  duration,
  firstNodeUrl,
  gasPrice,
  hashCount,
  likely,
  listenAddress,
  nodeUrls,
  oneOf,
  poolAddresses,
  publicKeys,
  scheduleText,
  someText,
  texts,
  wholeNumber,
  yesNo,
} from './values.ts'

export { environmentName, negatedName, type OptionSpec, type Values } from './option-spec.ts'

/** The embedded network; also options of `mine`, which starts one when no node is given. */
const networkOptions = {
  graph: option(oneOf(graphNames), 'twenty', 'NAME', `chain graph: ${graphNames.join(', ')}`),
  'block-delay': option(duration(1), 30_000, 'TIME', 'intended time between blocks of a chain'),
  difficulty: option(hashCount, 100_000n, 'HASHES', 'hashes that a block takes on average, at first'),
  pow: option(yesNo, true, null, 'accept any nonce, and keep the difficulty as it is'),
}

const minePageOption = option(
  oneOf(['auto', 'on', 'off'] as const),
  'auto',
  'WHEN',
  'serve a page at /mine that mines with the GPU of its visitor: auto (on development networks only), on or off',
)

/** Options of the CPU engine. */
const cpuOptions = {
  kernel: option(oneOf(kernelPreferences), 'auto', 'NAME', 'CPU kernel; auto takes the fastest'),
  priority: option(oneOf(priorities), 'low', 'NAME', 'scheduling priority of search threads: low or normal'),
}

/** Options of `newcut devnet`. */
export const devnetOptions = {
  host: option(someText, '127.0.0.1', 'ADDRESS', 'address to listen on'),
  port: option(wholeNumber(0, 65535), 1848, 'PORT', 'port to listen on; 0 takes any free one'),
  ...networkOptions,
  'node-release': option(
    oneOf(nodeReleases),
    '3.2',
    'RELEASE',
    `release of the live node to follow: ${nodeReleases.join(', ')}`,
  ),
  'fork-epoch': option(
    wholeNumber(1, MAX_CASTING_BLOCKS),
    development.forks.castingBlocks,
    'N',
    'blocks of an epoch that may vote for the next fork; 120 that count follow',
  ),
  'fork-target': unset(
    wholeNumber(0, 0xffff_ffff),
    'N',
    'vote for forks up to this number; 0 never votes; without it, the highest that the release knows',
  ),
  product: option(oneOf(['chainweb', 'ledger'] as const), 'chainweb', 'WORD', 'word in paths: chainweb or ledger'),
  entity: unset(someText, 'NAME', 'the name of this node in private commands; without it, it executes none'),
  data: unset(
    someText,
    'DIR',
    'keep the chains in this directory, and continue those already in it; without it, in memory',
  ),
  check: option(yesNo, false, null, 'check everything in --data, then exit: with 0 if nothing is wrong, else with 1'),
  'backup-dir': unset(someText, 'DIR', 'enable backups (POST /make-backup), and put them there'),
  'mining-public-key': unset(publicKeys, 'KEY', 'only the account k:KEY of this key may mine; may be repeated'),
  'update-stream': option(duration(1), 240_000, 'TIME', 'about how long a work update stream stays open'),
  'update-stream-limit': option(wholeNumber(0, 1e6), 2000, 'N', 'maximum number of work update streams at once'),
  'work-limit': option(wholeNumber(1, 1e6), 1200, 'N', 'maximum number of payloads waiting for a solution'),
  refresh: option(duration(1), 15_000, 'TIME', 'minimum time between events that tell miners of new transactions'),
  mine: option(yesNo, false, null, 'mine on this network too, with proof of work'),
  threads: option(wholeNumber(0, 1024), availableParallelism(), 'N', 'CPU search threads of --mine'),
  ...cpuOptions,
  'auto-mine': unset(
    autoMineMode,
    'MODE',
    'without proof of work: on-demand (see /make-blocks), constant:2s (each chain), or simulated:100MH/s',
  ),
  'mine-page': minePageOption,
  'log-requests': option(yesNo, false, null, 'a line for each request: method, path, status, milliseconds, bytes'),
  exec: flagOnly(
    unset(someText, 'COMMAND', 'run COMMAND with the address in NEWCUT_NODE, then end with its exit code'),
  ),
  ...logOptions,
}

/** Options of `newcut solve`. */
export const solveOptions = {
  threads: option(wholeNumber(1, 1024), availableParallelism(), 'N', 'CPU search threads'),
  ...cpuOptions,
}

/** A healthy stream may be silent for longer than this. A shorter limit would only load the node with reopening. */
const MIN_STALL_MS = 1000

/** Options of `newcut mine`. */
export const mineOptions = {
  node: {
    ...unset(
      nodeUrls,
      'URL',
      'node to mine for; without it, an embedded development network; may be repeated, in order of priority',
    ),
    plural: 'nodes',
  },
  pool: {
    ...unset(
      poolAddresses,
      'URL',
      'pool to mine shares for, instead of nodes: stratum+tcp://USER@HOST:PORT, or stratum+ssl://; may be repeated, in order of priority',
    ),
    plural: 'pools',
    // It may have a password.
    isSecret: true as const,
  },
  ...rigOptions,
  failback: option(
    duration(1000),
    60_000,
    'TIME',
    'with several nodes or pools: one of higher priority gives work again when it has been fit for this long',
  ),
  'share-blocks': option(
    yesNo,
    true,
    null,
    'with several nodes: do not give blocks to the others that were found with work of one',
  ),
  'public-key': unset(publicKeys, 'KEY', 'public key that is paid, or its account k:KEY (see keygen); may be repeated'),
  account: unset(someText, 'NAME', 'account that is paid; k:KEY of the public key if not given'),
  predicate: option(
    likely(['keys-all', 'keys-any', 'keys-2'], someText),
    'keys-all',
    'NAME',
    'guard of the account: keys-all, keys-any, keys-2 or module.function',
  ),
  chains: unset(
    chainList(MAX_CHAINS - 1),
    'LIST',
    'mine these chains only, such as 0,5 or 0-9; without it, all. Among them the one with the highest expected reward',
  ),
  'fork-vote': option(
    oneOf(forkWishes),
    'node',
    'VOTE',
    'vote for the next fork of the network with the blocks found: node (as the node votes), yes or no',
  ),
  'fork-epoch': unset(
    wholeNumber(1, MAX_CASTING_BLOCKS),
    'N',
    `development networks: blocks of an epoch that may vote for the next fork; without it, ${development.forks.castingBlocks}`,
  ),
  engine: option(oneOf(['cpu', 'external'] as const), 'cpu', 'NAME', 'who searches: cpu, or the external command'),
  command: unset(someText, 'COMMAND', 'external worker: run for each work, with the target as its last argument'),
  threads: option(wholeNumber(0, 1024), availableParallelism(), 'N', 'CPU search threads; one fewer with a GPU'),
  ...cpuOptions,
  gpu: option(
    likely(['auto', 'all', 'none'], someText),
    'auto',
    'WHICH',
    'auto (real GPUs), all, none, or numbers and names from newcut devices, with commas',
  ),
  'gpu-batch-ms': option(wholeNumber(1, 1000), 10, 'MS', 'intended duration of a GPU batch'),
  'gpu-workgroup': unset(wholeNumber(1, 1024), 'N', 'lanes in a GPU workgroup; tuned if not given'),
  'allow-software': option(yesNo, false, null, 'mine with software GPU drivers too; they are for tests'),
  retune: option(yesNo, false, null, 'tune the GPU again, and forget the saved values'),
  'stratum-listen': unset(
    listenAddress,
    'HOST:PORT',
    'let rigs that speak stratum (ASICs and other miners) search too, connected there; whoever reaches it may',
  ),
  'stratum-difficulty': unset(
    hashCount,
    'HASHES',
    'hashes that the first shares of a rig take on average; if not given, 1.1T for ASICs and 268M for others',
  ),
  'stratum-per-address': option(
    wholeNumber(1, MAX_SESSIONS),
    defaultLimits.sessionsPerAddress,
    'N',
    'most rigs that may be connected from one address, as many are behind a router or proxy',
  ),
  'stratum-tls-cert': unset(someText, 'FILE', 'certificate for rigs in PEM form: they connect with TLS'),
  'stratum-tls-key': unset(someText, 'FILE', 'key of that certificate in PEM form'),
  blocks: unset(wholeNumber(1, 1e9), 'N', 'stop after N accepted blocks'),
  duration: unset(duration(1), 'TIME', 'stop after this time'),
  schedule: unset(
    scheduleText,
    'TIMES',
    'search at these local times only, such as "mon-fri 22:00-06:00,sat-sun 00:00-24:00"',
  ),
  'idle-only': option(yesNo, false, null, 'search only while other programs leave the processor idle'),
  'idle-limit': option(
    wholeNumber(1, 100),
    20,
    'PERCENT',
    'with --idle-only: how much of the processor other programs may use, all cores together',
  ),
  'dry-run': flagOnly(
    option(yesNo, false, null, 'try options, nodes, account and devices, say what would be mined, and end'),
  ),
  confirmations: option(
    wholeNumber(1, 1000),
    6,
    'N',
    'look for accepted blocks until they are the Nth of their chain from the head, and tell of orphans',
  ),
  state: unset(
    likely(['off'], someText),
    'DIR',
    'folder of the journal of solutions, or off; if not given, the usual one of the user, and off for development networks',
  ),
  http: option(
    listenAddress,
    { host: '127.0.0.1', port: 4148 },
    'HOST:PORT',
    'serve /metrics, /healthz and /api/summary there, and what monitors read; off to serve nothing',
  ),
  'http-token': {
    ...unset(
      bearerToken,
      'TOKEN',
      'whoever sends this as bearer token may pause, stop and change the miner over HTTP; without it, nobody may',
    ),
    isSecret: true as const,
  },
  'mine-page': minePageOption,
  ...logOptions,
  stall: unset(
    duration(MIN_STALL_MS, true),
    'TIME',
    'reopen an update stream that is silent for this long, 0 for never; 5 block delays, at least 10s, if not given',
  ),
  'fail-fast': option(
    yesNo,
    false,
    null,
    'end with an error if the node does not answer at the start, instead of waiting for it',
  ),
  insecure: option(yesNo, false, null, "do not check the node's TLS certificate"),
  ca: unset(someText, 'FILE', "certificates in PEM form: only these authorities may sign the node's certificate"),
  fingerprint: unset(certificateFingerprint, 'SHA256', "accept only the node's certificate with this SHA-256"),
  ...networkOptions,
  difficulty: unset(
    hashCount,
    'HASHES',
    'hashes that a block takes on average, at first; if not given, about a second of search on this machine',
  ),
}

/** Options of `newcut lead`. */
export const leadOptions = {
  nats: leaderServers,
  ...natsOptions,
  'nats-replicas': replicas,
  'nats-domain': domain,
  node: {
    ...option(
      nodeUrls,
      ['http://127.0.0.1:1848'],
      'URL',
      'node to mine for; may be repeated, in order of priority; the same for all leaders of a fleet',
    ),
    plural: mineOptions.node.plural,
  },
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
    option(yesNo, false, null, 'try options, NATS, nodes and account, say what rigs would be given, and end'),
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

/** The node that a command asks, and how it is trusted. */
const nodeOptions = {
  node: { ...option(firstNodeUrl, 'http://127.0.0.1:1848', 'URL', 'node to ask'), plural: mineOptions.node.plural },
  insecure: mineOptions.insecure,
  ca: mineOptions.ca,
  fingerprint: mineOptions.fingerprint,
}

/** Most chains that a network can have by its number of chains. */
const MAX_CHAIN = 9999
const chainOption = flagOnly(option(wholeNumber(0, MAX_CHAIN), 0, 'N', 'chain'))
const jsonOption = flagOnly(option(yesNo, false, null, 'as JSON'))
const dataOption = flagOnly(unset(someText, 'JSON', 'data that the code reads: JSON, or @FILE for a file with it'))
const knownKeys = [...developmentAccounts.map(({ account }) => account), 'miner']
const keyOption = unset(
  likely(knownKeys, texts),
  'FILE',
  'key that signs: a file that keygen wrote; on development networks also sender00 to sender09 and miner; may be repeated',
)

/** What a command pays and how long it holds. */
const gasOptions = {
  'gas-limit': option(wholeNumber(1, 1e9), 2500, 'N', 'most units of gas'),
  'gas-price': option(gasPrice, '0.00000001', 'COINS', 'coins for a unit of gas'),
  ttl: option(duration(1000), 900_000, 'TIME', 'how long blocks may take the command; the longest wait for it'),
}

const depthOption = flagOnly(option(wholeNumber(0, 1e6), 0, 'N', 'wait until N blocks stand on that of the command'))

/** Options of `newcut local`. */
export const localOptions = {
  chain: chainOption,
  ...nodeOptions,
  data: dataOption,
  'gas-limit': option(wholeNumber(1, 1e9), 150_000, 'N', 'most units of gas'),
  sender: flagOnly(unset(someText, 'ACCOUNT', 'account that the code is told pays for gas; nobody if not given')),
  rewind: flagOnly(option(wholeNumber(0, 1e9), 0, 'N', 'ask of N blocks below the head')),
  json: jsonOption,
}

/** Options of `newcut blocks`. */
export const blocksOptions = {
  state: unset(someText, 'DIR', 'folder of the journal; the usual one of the user if not given'),
  last: flagOnly(option(wholeNumber(0, 1e9), 0, 'N', 'the newest N only; 0 for all')),
  json: flagOnly(option(yesNo, false, null, 'a JSON object for each')),
  csv: flagOnly(option(yesNo, false, null, 'as comma-separated values')),
}

/** Options of `newcut balance`. */
export const balanceOptions = {
  ...nodeOptions,
  'public-key': mineOptions['public-key'],
  account: mineOptions.account,
  watch: flagOnly(option(yesNo, false, null, 'go on, and show what changes')),
  json: jsonOption,
}

/** Options of `newcut send`. */
export const sendOptions = {
  chain: chainOption,
  ...nodeOptions,
  key: keyOption,
  data: dataOption,
  cap: flagOnly(
    unset(texts, 'CAP', "what the keys sign for, such as '(coin.GAS)'; everything if not given; may be repeated"),
  ),
  sender: flagOnly(unset(someText, 'ACCOUNT', 'account that pays for gas; that of the first key if not given')),
  ...gasOptions,
  preflight: flagOnly(option(yesNo, true, null, 'do not try the command on the node before it is sent')),
  wait: flagOnly(option(yesNo, true, null, 'do not wait for the result')),
  depth: depthOption,
  json: jsonOption,
}

/** Options of `newcut transfer`. */
export const transferOptions = {
  chain: chainOption,
  'to-chain': flagOnly(unset(wholeNumber(0, MAX_CHAIN), 'N', 'chain of the receiver; the same if not given')),
  ...nodeOptions,
  key: keyOption,
  'receiver-keyset': flagOnly(
    unset(someText, 'JSON', 'who guards a receiver that does not exist yet and is no k: account: JSON, or @FILE'),
  ),
  'gas-payer': flagOnly(
    unset(someText, 'ACCOUNT', 'account that pays for gas on the chain of the receiver; the sender if not given'),
  ),
  continue: flagOnly(unset(someText, 'KEY', 'go on with the transfer to another chain that has this request key')),
  ...gasOptions,
  depth: depthOption,
  json: jsonOption,
}

/** Options of `newcut result`. */
export const resultOptions = {
  chain: flagOnly(unset(wholeNumber(0, MAX_CHAIN), 'N', 'chain of the command; all are asked if not given')),
  ...nodeOptions,
  wait: flagOnly(option(yesNo, true, null, 'do not wait for the result')),
  depth: depthOption,
  json: jsonOption,
}

/** The tables of all commands. */
export const optionTables: readonly Readonly<Record<string, unknown>>[] = [
  mineOptions,
  leadOptions,
  fleetOptions,
  devnetOptions,
  solveOptions,
  localOptions,
  blocksOptions,
  balanceOptions,
  sendOptions,
  transferOptions,
  resultOptions,
]
