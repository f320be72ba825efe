/** Options of `newcut mine`. */
import { availableParallelism } from 'node:os'
import { MAX_CASTING_BLOCKS } from '#ground/chain/fork.ts'
import { MAX_CHAINS } from '#ground/chain/graph.ts'
import { DEFAULT_RIGS_OF_POOL, defaultLimits, MAX_SESSIONS } from '#mining/engine/stratum/limits.ts'
import { forkVoteChoices } from '#mining/source/source.ts'
import { pace } from '../block-modes.ts'
import {
  bearerToken,
  chainList,
  duration,
  hashCount,
  listenAddress,
  nodeUrls,
  oneOf,
  poolAddresses,
  power,
  publicKeys,
  scheduleText,
  someText,
  type ValueKind,
  wholeNumber,
  withCompletions,
  yesNo,
} from '../values.ts'
import { rigOptions } from './fleet.ts'
import { logOptions } from './log.ts'
import { networkOptions, ofNetwork } from './network.ts'
import { networkFiles, tlsOptions } from './node.ts'
import { priceOptions } from './prices.ts'
import { changeable, flagOnly, option, optional } from './row.ts'
import { cpuOptions, threadsDefaultText } from './search.ts'

/** A healthy stream may be silent for longer. A shorter limit would only make newcut reopen the stream needlessly. */
const MIN_STALL_MS = 1000

const ofAccount = { group: 'account', needs: ['blocks'] } as const
const ofVotes = { group: 'chains', needs: ['blocks'] } as const
/** Other options are switched off by `off`, so it means `none` here too. */
const gpuChoice: ValueKind<string> = {
  ...withCompletions(['auto', 'all', 'none'], someText),
  parse: (raw) => (raw === 'off' ? 'none' : someText.parse(raw)),
}

const ofGpu = { group: 'gpu', needs: ['ownSearch', 'gpu', 'noPace'], ...changeable } as const
const ofRigs = { group: 'rigs', needs: ['rigServer'] } as const
const ofTime = { group: 'time', ...changeable } as const

const sourceOptions = {
  node: optional(nodeUrls, 'URL', 'node to mine for; repeat it for failover', {
    group: 'node',
    needs: ['noFleet', 'noPool'],
    more: 'The first node has the highest priority.',
    plural: 'nodes',
  }),
  pool: optional(poolAddresses, 'URL', 'pool: stratum+tcp://USER@HOST:PORT', {
    group: 'pool',
    needs: ['noFleet'],
    more: 'stratum+ssl:// uses TLS. Repeat the option for failover: the first pool has the highest priority.',
    plural: 'pools',
    // It may have a password.
    isSecret: true,
  }),
  ...rigOptions,
  failback: option(duration(1000), 60_000, 'TIME', 'healthy time before failback', {
    group: 'node',
    needs: ['several'],
    more: 'With several nodes or pools, newcut returns to one of higher priority after it has been healthy this long.',
    isForHttp: true,
  }),
  'share-blocks': option(yesNo, true, null, 'send found blocks to all other nodes too', {
    group: 'node',
    negatedHelp: 'send a block only to the node of its work',
    needs: ['severalNodes'],
    isForHttp: true,
  }),
  'public-key': optional(publicKeys, 'KEY', 'public key to pay, or its account k:KEY', {
    ...ofAccount,
    more: '`newcut keygen` makes one. Repeat the option for an account with several keys.',
  }),
  account: optional(someText, 'NAME', 'account to pay', { ...ofAccount, defaultText: 'k:KEY' }),
  predicate: option(
    withCompletions(['keys-all', 'keys-any', 'keys-2'], someText),
    'keys-all',
    'NAME',
    'guard of the account',
    {
      ...ofAccount,
      more: 'One of keys-all, keys-any and keys-2, or module.function.',
    },
  ),
  chains: optional(chainList(MAX_CHAINS - 1), 'LIST', 'chains to mine, such as 0-9', {
    ...ofVotes,
    more: 'newcut searches on the chain of the list with the highest expected reward.',
    defaultText: 'all',
    ...changeable,
  }),
  pace: optional(pace, 'PACE', 'make blocks at a pace, at a node without PoW', {
    group: 'chains',
    needs: ['noFleet', 'noPool', 'peer'],
    more: 'For development networks. constant:TIME makes a block on every chain each TIME, and on-demand makes blocks by POST /make-blocks at the address of --http.',
  }),
  'fork-vote': option(oneOf(forkVoteChoices), 'node', 'VOTE', 'vote for forks: node, yes or no', {
    ...ofVotes,
    more: 'The blocks that you find vote for the next fork of the network; `node` votes as the node does.',
  }),
  'fork-epoch': optional(wholeNumber(1, MAX_CASTING_BLOCKS), 'N', 'blocks of a voting epoch that may vote', {
    ...ofVotes,
    more: 'For development networks. 120 blocks that count the votes follow.',
    defaultText: 'that of the network',
  }),
}

const searchOptions = {
  engine: option(oneOf(['cpu', 'external'] as const), 'cpu', 'NAME', 'cpu, or external for --command', {
    group: 'search',
    isLive: true,
  }),
  command: optional(someText, 'COMMAND', 'external worker to run for each work', {
    group: 'search',
    needs: ['external'],
    more: 'Its last argument is the target.',
    isLive: true,
    // Its arguments may hold secrets.
    isHidden: true,
  }),
  threads: option(wholeNumber(0, 1024), availableParallelism(), 'N', 'CPU search threads', {
    group: 'search',
    needs: ['ownSearch'],
    more: 'By default, one fewer with a GPU, and one with --pace.',
    defaultText: threadsDefaultText,
    ...changeable,
  }),
  ...cpuOptions,
  gpu: option(gpuChoice, 'auto', 'WHICH', 'GPUs to mine with', {
    group: 'gpu',
    needs: ['ownSearch', 'noPace'],
    more: 'auto (physical GPUs), all, none or off, or numbers and names of `newcut devices`, separated by commas.',
    ...changeable,
  }),
  'gpu-batch-ms': option(wholeNumber(1, 1000), 10, 'MS', 'target duration of a GPU batch', ofGpu),
  'gpu-workgroup': optional(wholeNumber(1, 1024), 'N', 'lanes in a GPU workgroup', { ...ofGpu, defaultText: 'tuned' }),
  'allow-software': option(yesNo, false, null, 'mine with software GPU drivers too', {
    ...ofGpu,
    needs: ['ownSearch', 'gpu', 'noPace', 'namedGpu'],
    more: 'These drivers are for tests.',
  }),
  retune: option(yesNo, false, null, 'discard the saved tuning, and tune again', {
    ...ofGpu,
    needs: ['ownSearch', 'noPace', 'gpuTuning'],
    more: 'It is the tuning of GPUs, and of --tune-for efficiency.',
  }),
  'stratum-listen': optional(listenAddress, 'HOST:PORT', 'accept stratum rigs (ASICs) at this address', {
    group: 'rigs',
    needs: ['noPace'],
    more: 'Other stratum miners work too. Anyone who can reach the address can connect.',
  }),
  'stratum-proxy-listen': optional(listenAddress, 'HOST:PORT', 'accept stratum proxies of newcut here', {
    group: 'rigs',
    needs: ['rigServer', 'noPool'],
    more: 'Each proxy gets a nonce1 of one byte, and serves up to 256 rigs with the other seven bytes.',
  }),
  'stratum-difficulty': optional(hashCount, 'HASHES', 'difficulty of the first shares', {
    group: 'rigs',
    needs: ['rigServer', 'noPool'],
    more: 'The first shares of a rig take this many hashes on average. If not set: 17.6T or more for ASICs, 4.29G for others.',
  }),
  'pool-sessions': option(
    wholeNumber(1, MAX_SESSIONS),
    DEFAULT_RIGS_OF_POOL,
    'N',
    'maximum number of rigs behind --pool',
    {
      group: 'rigs',
      needs: ['rigServer', 'pool'],
      more: 'Each rig has its own session with the pool, and pools may ban an address with too many sessions.',
    },
  ),
  'stratum-per-address': option(
    wholeNumber(1, MAX_SESSIONS),
    defaultLimits.sessionsPerAddress,
    'N',
    'maximum number of rigs per IP address',
    { ...ofRigs, more: 'All rigs behind one router or proxy share an address.' },
  ),
  'stratum-tls-cert': optional(someText, 'FILE', 'TLS certificate for rigs (PEM)', {
    ...ofRigs,
    more: 'With it, rigs connect with TLS.',
  }),
  'stratum-tls-key': optional(someText, 'FILE', 'key of that certificate (PEM)', ofRigs),
}

const energyOptions = {
  watts: optional(power, 'N', 'power of the whole miner in watts', {
    group: 'energy',
    more: 'It replaces what the sensors read, such as by the figure of a plug meter, and counts while anything searches.',
    ...changeable,
  }),
  'watts-base': option(power, 0, 'N', 'watts to add to those of the sensors', {
    group: 'energy',
    needs: ['sensors'],
    more: 'For the rest of the machine, such as its board, fans and power supply. Without any reading, nothing is added.',
    ...changeable,
  }),
  'tune-for': option(
    oneOf(['speed', 'efficiency'] as const),
    'speed',
    'AIM',
    'speed, or efficiency: fewest joules a hash',
    {
      group: 'energy',
      needs: ['ownSearch', 'noPace', 'readEnergy'],
      more: 'efficiency measures threads, kernels and GPU batches at the first start, as far as they are not set, and keeps the best. It needs readable energy.',
    },
  ),
}

const timeOptions = {
  blocks: optional(wholeNumber(1, 1e9), 'N', 'stop after N accepted blocks', { group: 'time', isForHttp: true }),
  duration: optional(duration(1), 'TIME', 'stop after this time, such as 30m', { group: 'time', isForHttp: true }),
  schedule: optional(scheduleText, 'TIMES', 'mine only at these local times', {
    ...ofTime,
    more: 'For example "mon-fri 22:00-06:00,sat-sun 00:00-24:00".',
  }),
  'idle-only': option(yesNo, false, null, 'mine only while the CPU is otherwise idle', ofTime),
  'idle-limit': option(wholeNumber(1, 100), 20, 'PERCENT', 'CPU use that counts as busy', {
    ...ofTime,
    needs: ['idle'],
    more: 'With --idle-only: mining pauses while other programs use more, as a percentage of all cores together.',
  }),
  'dry-run': flagOnly(
    option(yesNo, false, null, 'check everything, say what would be mined', {
      group: 'time',
      more: 'newcut tries options, nodes, account and devices, and exits.',
    }),
  ),
}

export const minePageOption = option(oneOf(['auto', 'on', 'off'] as const), 'auto', 'WHEN', 'page /mine for browsers', {
  group: 'http',
  needs: ['page', 'http'],
  more: 'The page mines with the GPU of its visitor. One of auto (on development networks only), on and off.',
})

export const mineOptions = {
  ...sourceOptions,
  ...searchOptions,
  ...energyOptions,
  ...timeOptions,
  confirmations: option(wholeNumber(1, 1000), 6, 'N', 'depth at which a block is final', {
    group: 'blocks',
    needs: ['blocks'],
    more: 'newcut follows accepted blocks until they are the Nth from the head of their chain, and reports orphans.',
    isForHttp: true,
  }),
  state: optional(withCompletions(['off'], someText), 'DIR', 'journal folder for solutions, or off', {
    group: 'blocks',
    needs: ['journal'],
    more: 'If not set, it is the state folder of the user, and off for development networks.',
  }),
  ...priceOptions,
  http: option(listenAddress, { host: '127.0.0.1', port: 4148 }, 'HOST:PORT', 'HTTP address, or off', {
    group: 'http',
    more: 'newcut serves the dashboard, /metrics, /healthz, /api/summary and the APIs that monitors read.',
  }),
  'http-token': optional(bearerToken, 'TOKEN', 'bearer token for control over HTTP', {
    group: 'http',
    needs: ['http'],
    more: 'Clients need it to pause, stop and change the miner. Without a token, none can.',
    isLive: true,
    isSecret: true,
  }),
  'pool-api': option(yesNo, false, null, 'serve the APIs of pool dashboards', {
    group: 'http',
    needs: ['rigServer', 'http'],
    more: '/api/pools as in miningcore and /api/stats as in NOMP show the rigs.',
  }),
  'mine-page': minePageOption,
  ...logOptions,
  stall: optional(duration(MIN_STALL_MS, true), 'TIME', 'silence before a stream is reopened', {
    group: 'node',
    needs: ['blocks'],
    more: 'It is the update stream of the node; 0 never reopens it. If not set: 5 block delays, at least 10s.',
    isForHttp: true,
  }),
  'fail-fast': option(yesNo, false, null, 'exit if the node is down at the start', {
    group: 'node',
    needs: ['peer'],
    more: 'By default, newcut waits for the node.',
    isForHttp: true,
  }),
  'network-file': {
    ...networkFiles,
    help: 'file that describes the network of the node',
    group: 'node' as const,
    needs: ['peer', 'noPool', 'noFleet'] as const,
  },
  ...tlsOptions,
  ...networkOptions,
  difficulty: optional(hashCount, 'HASHES', 'initial difficulty in hashes', {
    ...ofNetwork,
    more: 'A block takes this many hashes on average, until the difficulty adjusts. If not set: about a second of search on this machine.',
  }),
}

/** The options that `newcut mine --help` shows. */
export const commonMineOptions = [
  'public-key',
  'account',
  'node',
  'failback',
  'chains',
  'pool',
  'insecure',
  'fleet',
  'rig',
  'threads',
  'gpu',
  'stratum-listen',
  'blocks',
  'duration',
  'schedule',
  'idle-only',
  'dry-run',
  'confirmations',
  'state',
  'coin-price',
  'power-price',
  'block-delay',
  'difficulty',
  'graph',
  'http',
  'http-token',
  'log',
  'log-level',
  'log-file',
] as const satisfies readonly (keyof typeof mineOptions)[]
