/** Options of `newcut devnet`. */
import { availableParallelism } from 'node:os'
import { MAX_CASTING_BLOCKS } from '../../core/fork.ts'
import { development } from '../../core/network.ts'
import { nodeReleases } from '../../schema/node-releases.ts'
import { autoMineMode, duration, oneOf, publicKeys, someText, wholeNumber, yesNo } from '../values.ts'
import { logOptions } from './log.ts'
import { minePageOption } from './mine.ts'
import { networkOptions } from './network.ts'
import { flagOnly, option, unset } from './row.ts'
import { cpuOptions } from './search.ts'

const ofServer = { group: 'server' } as const
const ofChain = { group: 'network' } as const
const ofData = { group: 'data' } as const
const ofBlocks = { group: 'making' } as const
const ofMining = { group: 'making', needs: ['mining'] } as const

export const devnetOptions = {
  host: option(someText, '127.0.0.1', 'ADDRESS', 'address to listen on', ofServer),
  port: option(wholeNumber(0, 65535), 1848, 'PORT', 'port to listen on; 0 takes any free one', ofServer),
  ...networkOptions,
  'node-release': option(
    oneOf(nodeReleases),
    '3.2',
    'RELEASE',
    `release of the live node to follow: ${nodeReleases.join(', ')}`,
    ofChain,
  ),
  'fork-epoch': option(
    wholeNumber(1, MAX_CASTING_BLOCKS),
    development.forks.castingBlocks,
    'N',
    'blocks of an epoch that may vote for the next fork; 120 that count follow',
    ofChain,
  ),
  'fork-target': unset(
    wholeNumber(0, 0xffff_ffff),
    'N',
    'vote for forks up to this number; 0 never votes; without it, the highest that the release knows',
    ofChain,
  ),
  product: option(
    oneOf(['chainweb', 'ledger'] as const),
    'chainweb',
    'WORD',
    'word in paths: chainweb or ledger',
    ofServer,
  ),
  entity: unset(someText, 'NAME', 'the name of this node in private commands; without it, it executes none', ofServer),
  data: unset(
    someText,
    'DIR',
    'keep the chains in this directory, and continue those already in it; without it, in memory',
    ofData,
  ),
  check: option(
    yesNo,
    false,
    null,
    'check everything in --data, then exit: with 0 if nothing is wrong, else with 1',
    ofData,
  ),
  'backup-dir': unset(someText, 'DIR', 'enable backups (POST /make-backup), and put them there', ofData),
  'mining-public-key': unset(
    publicKeys,
    'KEY',
    'only the account k:KEY of this key may mine; may be repeated',
    ofBlocks,
  ),
  'update-stream': option(duration(1), 240_000, 'TIME', 'about how long a work update stream stays open', ofServer),
  'update-stream-limit': option(
    wholeNumber(0, 1e6),
    2000,
    'N',
    'maximum number of work update streams at once',
    ofServer,
  ),
  'work-limit': option(wholeNumber(1, 1e6), 1200, 'N', 'maximum number of payloads waiting for a solution', ofServer),
  refresh: option(
    duration(1),
    15_000,
    'TIME',
    'minimum time between events that tell miners of new transactions',
    ofServer,
  ),
  mine: option(yesNo, false, null, 'mine on this network too, with proof of work', ofBlocks),
  threads: option(wholeNumber(0, 1024), availableParallelism(), 'N', 'CPU search threads of --mine', ofMining),
  kernel: { ...cpuOptions.kernel, ...ofMining },
  priority: { ...cpuOptions.priority, ...ofMining },
  'auto-mine': unset(
    autoMineMode,
    'MODE',
    'without proof of work: on-demand (see /make-blocks), constant:2s (each chain), or simulated:100MH/s',
    ofBlocks,
  ),
  'mine-page': { ...minePageOption, ...ofServer },
  'log-requests': option(yesNo, false, null, 'a line for each request: method, path, status, milliseconds, bytes', {
    group: 'log',
    needs: ['requestLog'],
  }),
  exec: flagOnly(
    unset(someText, 'COMMAND', 'run COMMAND with the address in NEWCUT_NODE, then end with its exit code'),
  ),
  ...logOptions,
}
