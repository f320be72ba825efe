/** Options of forks of another network: of `devnet` and of `contract`. */
import { duration, firstNodeUrl, oneOf, someText, texts, type ValueKind, wholeNumber } from '../values.ts'
import { option, unset } from './row.ts'

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

const ofFork = { group: 'fork', needs: ['forked'] } as const

export const forkOptions = {
  fork: unset(firstNodeUrl, 'URL', "begin with the state of this node's network", {
    group: 'network',
    more: 'Modules, rows, keysets, namespaces and pacts are fetched when code reads them.',
  }),
  'fork-cut': unset(someText, 'CUT', 'where to fork: a height, or a file with a cut', {
    ...ofFork,
    more: 'A fork prints its cut at the start, so that another run can begin at the same blocks.',
    standard: '10 blocks below the lowest head',
  }),
  'fork-chains': unset(chainList, 'CHAINS', 'chains to fork, such as 0,1', {
    ...ofFork,
    more: 'The others begin with the state of a development network. A test file runs on one chain.',
    standard: 'all; 0 for test files',
  }),
  'fork-cache': unset(someText, 'DIR', 'folder of what was fetched, or off', {
    ...ofFork,
    more: 'Pinned blocks never change, so nothing there expires. With a full cache no node is needed.',
    standard: "newcut/fork in the user's cache folder",
  }),
  'fork-limit': option(requestRate, 20, 'RATE', 'most requests to the forked node in a second', ofFork),
  'fork-timeout': option(duration(1), 30_000, 'TIME', 'longest wait for an answer of the forked node', ofFork),
  'fork-table-rows': option(wholeNumber(1, 1e7), 10_000, 'N', 'most rows of a forked table that is read as a whole', {
    ...ofFork,
    more: 'keys, select and fold-db fetch all rows in one request.',
  }),
  'fork-pact': unset(texts, 'KEY', 'request key of a command that continued a pact before the fork', {
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
