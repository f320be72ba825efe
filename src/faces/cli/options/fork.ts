/** Options of forks of another network: of `devnet`, `contract`, `lsp` and `fork`. */

import { newestRelease, nodeReleases } from '#ground/schema/devnet-modes.ts'
import { duration, firstNodeUrl, oneOf, someText, texts, type ValueKind, wholeNumber, yesNo } from '../values.ts'
import { oneNetworkFile } from './node.ts'
import { flagOnly, option, optional, outputFile, withNeed } from './row.ts'

const CHAINS = /^\d{1,3}(,\d{1,3})*$/
const RATE = /^(\d{1,4}(?:\.\d{1,3})?)\/s$/

/** Chains of a network: `0,1`. */
const chainList: ValueKind<readonly number[]> = {
  expected: 'chain numbers with commas between them, such as 0,1',
  parse: (raw) => {
    const text = String(raw)
    return CHAINS.test(text) ? [...new Set(text.split(',').map(Number))].sort((a, b) => a - b) : undefined
  },
  format: (value) => value.join(','),
}

/** Requests in a second: `5/s`. */
const requestRate: ValueKind<number> = {
  expected: 'a number of requests in a second, such as 5/s',
  parse: (raw) => {
    const rate = Number(RATE.exec(String(raw))?.[1])
    return rate > 0 ? rate : undefined
  },
  format: (value) => `${value}/s`,
}

const ofFork = { group: 'fork', needs: ['forkSource'] } as const

export const forkOptions = {
  fork: optional(firstNodeUrl, 'URL', "begin with the state of this node's network", {
    group: 'network',
    more: 'Modules, rows, keysets, namespaces and pacts are fetched when code reads them.',
  }),
  'fork-cut': optional(someText, 'CUT', 'where to fork: a height, or a file with a cut', {
    ...ofFork,
    more: 'A fork prints its cut at the start, so that another run can begin at the same blocks.',
    defaultText: '10 blocks below the lowest head',
  }),
  'fork-chains': optional(chainList, 'CHAINS', 'chains to fork, such as 0,1', {
    ...ofFork,
    more: 'The others begin with the state of a development network. A test file runs on one chain.',
    defaultText: 'all; 0 for test files',
  }),
  'fork-cache': optional(someText, 'DIR', 'folder of what was fetched, or off', {
    ...ofFork,
    more: 'Pinned blocks never change, so nothing there expires. With a full cache no node is needed.',
    defaultText: "newcut/fork in the user's cache folder",
  }),
  'fork-limit': option(requestRate, 20, 'RATE', 'maximum requests to the forked node in a second', ofFork),
  'fork-timeout': option(duration(1), 30_000, 'TIME', 'longest wait for an answer of the forked node', ofFork),
  'fork-table-rows': option(
    wholeNumber(1, 1e7),
    10_000,
    'N',
    'maximum rows of a forked table that is read as a whole',
    {
      ...ofFork,
      more: 'keys, select and fold-db fetch all rows in one request.',
    },
  ),
  'fork-pact': optional(texts, 'KEY', 'request key of a command that continued a pact before the fork', {
    ...ofFork,
    more: 'The state of a pact is in the result of its last command. newcut finds the result of the first step itself.',
  }),
}

export const forkTimeOption = {
  'fork-time': option(oneOf(['now', 'pinned'] as const), 'now', 'WHEN', 'time of the first block of the fork', {
    ...ofFork,
    more: 'One of now, which is later than the pinned blocks by their age, and pinned, which continues their time.',
  }),
}

/** The release that a node follows. */
export const nodeReleaseOption = option(
  oneOf(nodeReleases),
  newestRelease,
  'RELEASE',
  'chainweb-node release to follow',
  {
    more: `One of ${nodeReleases.join(', ')}.`,
  },
)

/** Without the node: it is the argument of `newcut fork`, which thus always has one. */
const { fork: _, ...ofGivenNode } = Object.fromEntries(
  Object.entries(forkOptions).map(([name, row]) => [name, { ...row, needs: [] }]),
) as unknown as typeof forkOptions

/** Options of `newcut fork`. */
export const forkCommandOptions = {
  verify: flagOnly(
    option(yesNo, false, null, 'compare results and gas of code', {
      more: 'The code is in the files, or made from the modules of the chain. Each top-level form of a file is run alone. A report of an earlier comparison is run again at its cut. The exit code is 1 if anything differs.',
    }),
  ),
  ...withNeed('verifying', {
    cases: flagOnly(
      option(wholeNumber(1, 1e6), 1000, 'N', 'maximum pieces of code', {
        more: 'It limits code that is made from modules.',
      }),
    ),
    report: outputFile('write the differences as JSON', { more: 'Attach the file to an issue.' }),
    'node-release': { ...nodeReleaseOption, help: 'chainweb-node release to follow here' },
  }),
  'network-file': {
    ...oneNetworkFile,
    help: 'file that describes the network of the node',
    more: 'The rules here are those of the file. newcut has files of public networks.',
  },
  ...ofGivenNode,
}

/** The options that `newcut fork --help` shows. */
export const commonForkOptions = ['verify', 'cases', 'report', 'node-release', 'network-file'] as const

const stdioOption = flagOnly(option(yesNo, false, null, 'accepted, since some editors add it; it changes nothing'))

/** Options of `newcut dap`. */
export const dapOptions = { stdio: stdioOption }

/** Options of `newcut lsp`. */
export const lspOptions = {
  stdio: stdioOption,
  ...forkOptions,
  fork: { ...forkOptions.fork, group: 'fork' as const },
}

/** The options that `newcut lsp --help` shows. */
export const commonLspOptions = ['stdio', 'fork'] as const

/** Option of programs that fork -> the flag that sets it, where the words differ. */
export const flagsOfForkOptions = {
  'fork.cacheFolder': 'fork-cache',
  'fork.perSecond': 'fork-limit',
  'fork.timeoutMs': 'fork-timeout',
  'fork.pactKeys': 'fork-pact',
} as const satisfies Readonly<Record<string, keyof typeof forkOptions>>
