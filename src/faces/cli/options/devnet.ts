/** Options of `newcut devnet`. */
import { availableParallelism } from 'node:os'
import { DEVELOPMENT_PHRASE, PHRASE_COINS } from '#ground/chain/development-accounts.ts'
import { plainOptions } from '#ground/schema/devnet-options.ts'
import { autoMineMode } from '../block-modes.ts'
import {
  duration,
  impersonatedKeys,
  oneOf,
  publicKeys,
  someText,
  type ValueKind,
  wholeNumber,
  yesNo,
} from '../values.ts'
import { forkOptions, forkTimeOption, nodeReleaseOption } from './fork.ts'
import { logOptions } from './log.ts'
import { minePageOption } from './mine.ts'
import { networkOptions } from './network.ts'
import { networkFiles } from './node.ts'
import { flagOnly, option, optional, withNeed } from './row.ts'
import { cpuOptions, threadsDefaultText } from './search.ts'

const plain = plainOptions
const within = ({ range: [least, most] }: { readonly range: readonly [number, number] }) => wholeNumber(least, most)

const networkName: ValueKind<string> = {
  expected: 'the name of a chainweb network, such as development or mainnet01',
  parse: (raw) => (plain.networkName.fits(raw) ? raw : undefined),
  format: (value) => value,
}

const ofServer = { group: 'server' } as const
const ofChain = { group: 'network' } as const
const ofData = { group: 'data' } as const
const ofBlocks = { group: 'making' } as const
const ofMining = { group: 'making', needs: ['mining'] } as const

const serverOptions = {
  host: option(someText, plain.host.fallback, 'ADDRESS', 'address to listen on', ofServer),
  port: option(within(plain.port), plain.port.fallback, 'PORT', 'port; 0 takes a free one', ofServer),
  network: optional(networkName, 'NAME', 'network whose name and rules it has', {
    ...ofChain,
    more: 'Graph, block delay, difficulty and gas are those of that network. A fork has the rules of the forked network, and this name. With the name of a live network clients need no change, but what they sign is valid there too.',
    defaultText: 'development, or the network of the only --network-file',
  }),
  'network-file': { ...networkFiles, ...ofChain },
  ...networkOptions,
  ...withNeed('ownNetwork', { difficulty: networkOptions.difficulty, pow: networkOptions.pow }),
  'node-release': { ...nodeReleaseOption, ...ofChain },
  'fork-epoch': option(
    within(plain.forkEpoch),
    plain.forkEpoch.fallback,
    'N',
    'blocks of a voting epoch that may vote',
    {
      ...ofChain,
      more: '120 blocks that count the votes follow.',
    },
  ),
  'fork-target': optional(within(plain.forkTarget), 'N', 'vote for forks up to this number', {
    ...ofChain,
    more: '0 never votes.',
    defaultText: 'the highest fork of the release',
  }),
  ...forkOptions,
  ...forkTimeOption,
  product: option(
    oneOf(plain.product.values),
    plain.product.fallback,
    'WORD',
    'word in paths: chainweb or ledger',
    ofServer,
  ),
  entity: optional(someText, 'NAME', 'name of this node in private commands', {
    ...ofServer,
    more: 'Without a name, the node executes none of them.',
  }),
  data: optional(someText, 'DIR', 'folder of the chains', {
    ...ofData,
    more: 'The network continues the chains that are there.',
    defaultText: 'in memory',
  }),
  'state-file': optional(someText, 'FILE', 'begin with the network in FILE, and save it there', {
    ...ofData,
    more: 'FILE is written when newcut ends, unless it is killed. GET /devnet/state makes such files too.',
  }),
  check: option(yesNo, false, null, 'check everything in --data, and exit', {
    ...ofData,
    more: 'The exit code is 0 if nothing is wrong, else 1.',
  }),
  'backup-dir': optional(someText, 'DIR', 'folder for backups (POST /make-backup)', {
    ...ofData,
    more: 'Backups are off without it.',
  }),
  'mining-public-key': optional(publicKeys, 'KEY', 'let only the account k:KEY of this key mine', {
    ...ofBlocks,
    more: 'Repeat the option for several accounts.',
  }),
  'update-stream': option(
    duration(1),
    plain.updateStreamMs.fallback,
    'TIME',
    'approximate lifetime of a work update stream',
    ofServer,
  ),
  'update-stream-limit': option(
    wholeNumber(0, 1e6),
    plain.updateStreamLimit.fallback,
    'N',
    'maximum number of work update streams',
    ofServer,
  ),
  'work-limit': option(
    wholeNumber(1, 1e6),
    plain.workLimit.fallback,
    'N',
    'maximum number of unsolved payloads',
    ofServer,
  ),
  refresh: option(duration(1), plain.refreshMs.fallback, 'TIME', 'minimum time between work updates', {
    ...ofServer,
    more: 'It limits the events that announce new transactions to miners.',
  }),
  mine: option(yesNo, false, null, 'mine here too, with proof of work', { ...ofBlocks, needs: ['ownNetwork'] }),
  threads: option(wholeNumber(0, 1024), availableParallelism(), 'N', 'threads of --mine', {
    ...ofMining,
    defaultText: threadsDefaultText,
  }),
  kernel: { ...cpuOptions.kernel, ...ofMining },
  priority: { ...cpuOptions.priority, ...ofMining },
  'auto-mine': optional(autoMineMode, 'MODE', 'make blocks without proof of work', {
    ...ofBlocks,
    more:
      'One of on-arrival (a block for each command, then 5 on every chain; on-arrival:0 for none), on-demand (see ' +
      '/make-blocks), constant:2s (each chain) and simulated:100MH/s.',
  }),
  impersonate: optional(impersonatedKeys, 'KEY', 'check no signatures of this public key', {
    ...ofServer,
    more: "Repeat the option for several keys; '*' stands for all.",
  }),
  'allow-print': option(
    yesNo,
    plain.allowPrint.fallback,
    null,
    'let contracts call print, which live networks refuse',
    {
      ...ofServer,
      more: 'Printed texts go to the log and to traces. A network with such contracts needs the option at each start.',
    },
  ),
  accounts: option(within(plain.phraseAccounts), plain.phraseAccounts.fallback, 'N', `fund N k: accounts of a phrase`, {
    ...ofChain,
    more: `Each has ${PHRASE_COINS} coins on every chain. The phrase is '${DEVELOPMENT_PHRASE}', the path m/44'/626'/i'.`,
  }),
  'mine-page': { ...minePageOption, ...ofServer },
  'log-requests': option(yesNo, false, null, 'log each request', {
    group: 'log',
    needs: ['requestLog'],
    more: 'A line has method, path, status, milliseconds and bytes.',
  }),
  exec: flagOnly(
    optional(someText, 'COMMAND', 'run COMMAND on the network, and exit', {
      ...ofServer,
      more: 'NEWCUT_NODE has the address of the network. The exit code is that of COMMAND.',
    }),
  ),
  ...logOptions,
}

export const devnetOptions = {
  ...withNeed('node', serverOptions),
  data: serverOptions.data,
  check: serverOptions.check,
}

/** The options that `newcut devnet --help` shows. */
export const commonDevnetOptions = [
  'host',
  'port',
  'exec',
  'mine',
  'threads',
  'auto-mine',
  'accounts',
  'mining-public-key',
  'data',
  'check',
  'fork',
  'graph',
  'block-delay',
  'difficulty',
  'pow',
  'node-release',
  'log',
  'log-level',
  'log-file',
  'log-requests',
] as const satisfies readonly (keyof typeof devnetOptions)[]

/** Option of programs -> the flag that sets it. */
export const flagsOfOptions = {
  host: 'host',
  port: 'port',
  dataDir: 'data',
  stateFile: 'state-file',
  backupDir: 'backup-dir',
  networkName: 'network',
  graph: 'graph',
  blockDelayMs: 'block-delay',
  difficulty: 'difficulty',
  pow: 'pow',
  nodeRelease: 'node-release',
  forkEpoch: 'fork-epoch',
  forkTarget: 'fork-target',
  entity: 'entity',
  product: 'product',
  updateStreamMs: 'update-stream',
  updateStreamLimit: 'update-stream-limit',
  workLimit: 'work-limit',
  refreshMs: 'refresh',
  autoMine: 'auto-mine',
  impersonate: 'impersonate',
  allowPrint: 'allow-print',
  phraseAccounts: 'accounts',
} as const satisfies Readonly<
  Partial<Record<keyof typeof plainOptions | 'autoMine' | 'impersonate', keyof typeof devnetOptions>>
>
