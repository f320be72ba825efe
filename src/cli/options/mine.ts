/** Options of `newcut mine`. */
import { availableParallelism } from 'node:os'
import { MAX_CASTING_BLOCKS } from '../../core/fork.ts'
import { MAX_CHAINS } from '../../core/graph.ts'
import { development } from '../../core/network.ts'
import { defaultLimits, MAX_SESSIONS, RIGS_BEHIND_POOL } from '../../engine/stratum/limits.ts'
import { forkWishes } from '../../source/node/fork-wish.ts'
import {
  bearerToken,
  certificateFingerprint,
  chainList,
  duration,
  hashCount,
  likely,
  listenAddress,
  nodeUrls,
  oneOf,
  poolAddresses,
  publicKeys,
  scheduleText,
  someText,
  wholeNumber,
  yesNo,
} from '../values.ts'
import { rigOptions } from './fleet.ts'
import { logOptions } from './log.ts'
import { networkOptions, ofNetwork } from './network.ts'
import { changeable, flagOnly, option, unset } from './row.ts'
import { cpuOptions } from './search.ts'

/** A healthy stream may be silent for longer than this. A shorter limit would only load the node with reopening. */
const MIN_STALL_MS = 1000

const ofAccount = { group: 'account', needs: ['blocks'] } as const
const ofGpu = { group: 'gpu', needs: ['own', 'gpu'], ...changeable } as const
const ofRigs = { group: 'rigs', needs: ['rigServer'] } as const
const ofTls = { group: 'tls', needs: ['tls', 'anyCertificate'] } as const
const ofTime = { group: 'time', ...changeable } as const

const sourceOptions = {
  node: unset(
    nodeUrls,
    'URL',
    'node to mine for; without it, an embedded development network; may be repeated, in order of priority',
    { group: 'work', needs: ['noFleet', 'noPool'], plural: 'nodes' },
  ),
  pool: unset(
    poolAddresses,
    'URL',
    'pool to mine shares for, instead of nodes: stratum+tcp://USER@HOST:PORT, or stratum+ssl://; may be repeated, in order of priority',
    // It may have a password.
    { group: 'work', needs: ['noFleet'], plural: 'pools', isSecret: true },
  ),
  ...rigOptions,
  failback: option(
    duration(1000),
    60_000,
    'TIME',
    'with several nodes or pools: one of higher priority gives work again when it has been fit for this long',
    { group: 'work', needs: ['several'], isForHttp: true },
  ),
  'share-blocks': option(
    yesNo,
    true,
    null,
    'with several nodes: do not give blocks to the others that were found with work of one',
    { group: 'work', needs: ['severalNodes'], isForHttp: true },
  ),
  'public-key': unset(
    publicKeys,
    'KEY',
    'public key that is paid, or its account k:KEY (see keygen); may be repeated',
    ofAccount,
  ),
  account: unset(someText, 'NAME', 'account that is paid; k:KEY of the public key if not given', ofAccount),
  predicate: option(
    likely(['keys-all', 'keys-any', 'keys-2'], someText),
    'keys-all',
    'NAME',
    'guard of the account: keys-all, keys-any, keys-2 or module.function',
    ofAccount,
  ),
  chains: unset(
    chainList(MAX_CHAINS - 1),
    'LIST',
    'mine these chains only, such as 0,5 or 0-9; without it, all. Among them the one with the highest expected reward',
    { group: 'work', needs: ['blocks'], ...changeable },
  ),
  'fork-vote': option(
    oneOf(forkWishes),
    'node',
    'VOTE',
    'vote for the next fork of the network with the blocks found: node (as the node votes), yes or no',
    ofAccount,
  ),
  'fork-epoch': unset(
    wholeNumber(1, MAX_CASTING_BLOCKS),
    'N',
    `development networks: blocks of an epoch that may vote for the next fork; without it, ${development.forks.castingBlocks}`,
    ofAccount,
  ),
}

const searchOptions = {
  engine: option(oneOf(['cpu', 'external'] as const), 'cpu', 'NAME', 'who searches: cpu, or the external command', {
    group: 'search',
    isLive: true,
  }),
  command: unset(
    someText,
    'COMMAND',
    'external worker: run for each work, with the target as its last argument',
    // Its arguments may hold secrets.
    { group: 'search', needs: ['external'], isLive: true, isHidden: true },
  ),
  threads: option(wholeNumber(0, 1024), availableParallelism(), 'N', 'CPU search threads; one fewer with a GPU', {
    group: 'search',
    needs: ['own'],
    ...changeable,
  }),
  ...cpuOptions,
  gpu: option(
    likely(['auto', 'all', 'none'], someText),
    'auto',
    'WHICH',
    'auto (real GPUs), all, none, or numbers and names from newcut devices, with commas',
    { group: 'gpu', needs: ['own'], ...changeable },
  ),
  'gpu-batch-ms': option(wholeNumber(1, 1000), 10, 'MS', 'intended duration of a GPU batch', ofGpu),
  'gpu-workgroup': unset(wholeNumber(1, 1024), 'N', 'lanes in a GPU workgroup; tuned if not given', ofGpu),
  'allow-software': option(yesNo, false, null, 'mine with software GPU drivers too; they are for tests', {
    ...ofGpu,
    needs: ['own', 'gpu', 'namedGpu'],
  }),
  retune: option(yesNo, false, null, 'tune the GPU again, and forget the saved values', ofGpu),
  'stratum-listen': unset(
    listenAddress,
    'HOST:PORT',
    'let rigs that speak stratum (ASICs and other miners) search too, connected there; whoever reaches it may',
    { group: 'rigs' },
  ),
  'stratum-proxy-listen': unset(
    listenAddress,
    'HOST:PORT',
    'let proxies of newcut connect there: each gets a nonce1 of one byte, and serves up to 256 rigs with the other seven',
    { group: 'rigs', needs: ['rigServer', 'noPool'] },
  ),
  'stratum-difficulty': unset(
    hashCount,
    'HASHES',
    'hashes that the first shares of a rig take on average; if not given, 17.6T or more for ASICs and 4.29G for others',
    { group: 'rigs', needs: ['rigServer', 'noPool'] },
  ),
  'pool-sessions': option(
    wholeNumber(1, MAX_SESSIONS),
    RIGS_BEHIND_POOL,
    'N',
    'most rigs behind --pool: each has its own session with the pool, and pools may ban an address with too many',
    { group: 'rigs', needs: ['rigServer', 'pool'] },
  ),
  'stratum-per-address': option(
    wholeNumber(1, MAX_SESSIONS),
    defaultLimits.sessionsPerAddress,
    'N',
    'most rigs that may be connected from one address, as many are behind a router or proxy',
    ofRigs,
  ),
  'stratum-tls-cert': unset(someText, 'FILE', 'certificate for rigs in PEM form: they connect with TLS', ofRigs),
  'stratum-tls-key': unset(someText, 'FILE', 'key of that certificate in PEM form', ofRigs),
}

const timeOptions = {
  blocks: unset(wholeNumber(1, 1e9), 'N', 'stop after N accepted blocks', { group: 'time', isForHttp: true }),
  duration: unset(duration(1), 'TIME', 'stop after this time', { group: 'time', isForHttp: true }),
  schedule: unset(
    scheduleText,
    'TIMES',
    'search at these local times only, such as "mon-fri 22:00-06:00,sat-sun 00:00-24:00"',
    ofTime,
  ),
  'idle-only': option(yesNo, false, null, 'search only while other programs leave the processor idle', ofTime),
  'idle-limit': option(
    wholeNumber(1, 100),
    20,
    'PERCENT',
    'with --idle-only: how much of the processor other programs may use, all cores together',
    { ...ofTime, needs: ['idle'] },
  ),
  'dry-run': flagOnly(
    option(yesNo, false, null, 'try options, nodes, account and devices, say what would be mined, and end', {
      group: 'time',
    }),
  ),
}

export const minePageOption = option(
  oneOf(['auto', 'on', 'off'] as const),
  'auto',
  'WHEN',
  'serve a page at /mine that mines with the GPU of its visitor: auto (on development networks only), on or off',
  { group: 'http', needs: ['page', 'http'] },
)

export const mineOptions = {
  ...sourceOptions,
  ...searchOptions,
  ...timeOptions,
  confirmations: option(
    wholeNumber(1, 1000),
    6,
    'N',
    'look for accepted blocks until they are the Nth of their chain from the head, and tell of orphans',
    { group: 'blocks', needs: ['blocks'], isForHttp: true },
  ),
  state: unset(
    likely(['off'], someText),
    'DIR',
    'folder of the journal of solutions, or off; if not given, the usual one of the user, and off for development networks',
    { group: 'blocks', needs: ['journal'] },
  ),
  http: option(
    listenAddress,
    { host: '127.0.0.1', port: 4148 },
    'HOST:PORT',
    'serve /metrics, /healthz and /api/summary there, and what monitors read; off to serve nothing',
    { group: 'http' },
  ),
  'http-token': unset(
    bearerToken,
    'TOKEN',
    'bearer token for pausing, stopping and changing the miner over HTTP; without it, nobody may',
    { group: 'http', needs: ['http'], isLive: true, isSecret: true },
  ),
  'pool-api': option(
    yesNo,
    false,
    null,
    'serve the rigs in the shapes that pool dashboards read: /api/pools of miningcore, /api/stats of NOMP',
    { group: 'http', needs: ['rigServer', 'http'] },
  ),
  'mine-page': minePageOption,
  ...logOptions,
  stall: unset(
    duration(MIN_STALL_MS, true),
    'TIME',
    'reopen an update stream that is silent for this long, 0 for never; 5 block delays, at least 10s, if not given',
    { group: 'work', needs: ['blocks'], isForHttp: true },
  ),
  'fail-fast': option(
    yesNo,
    false,
    null,
    'end with an error if the node does not answer at the start, instead of waiting for it',
    { group: 'work', needs: ['peer'], isForHttp: true },
  ),
  insecure: option(yesNo, false, null, "do not check the node's TLS certificate", ofTls),
  ca: unset(
    someText,
    'FILE',
    "certificates in PEM form: only these authorities may sign the node's certificate",
    ofTls,
  ),
  fingerprint: unset(certificateFingerprint, 'SHA256', "accept only the node's certificate with this SHA-256", {
    group: 'tls',
    needs: ['tls'],
  }),
  ...networkOptions,
  difficulty: unset(
    hashCount,
    'HASHES',
    'hashes that a block takes on average, at first; if not given, about a second of search on this machine',
    ofNetwork,
  ),
}
