/** The rows of commands with flags alone: nothing of them comes from the environment or a file. */
import { Argument, Option } from 'commander'
import { benchSuites } from '../cli/bench-suites.ts'
import type { FlagRow } from '../cli/command-row.ts'
import { once } from '../cli/flags.ts'
import { indented } from '../cli/program.ts'

const suiteNames = Object.keys(benchSuites)
const widestSuite = Math.max(...suiteNames.map((name) => name.length))
const suiteLines = Object.entries(benchSuites).map(([name, what]) => `${name.padEnd(widestSuite)}  ${what}`)
const suites = new Argument('[suite...]')
// `choices` would list all of them in the usage line.
suites.argChoices = suiteNames

/** Those of src/stratum-check/makers.ts, which is loaded only when the command runs. */
const rigMakers = {
  ka3: 'Antminer KA3, 2022',
  'ka3-2023': 'Antminer KA3, 2023 on',
  goldshell: 'Goldshell KD5, KD6',
  'kd-box': 'Goldshell KD-BOX',
  ibelink: 'iBeLink BM-K1, BM-K3',
  'authorize-first': 'one that authorizes first',
  farm: 'proxy of a farm, 3 users',
}
const widestMaker = Math.max(...Object.keys(rigMakers).map((name) => name.length))
const makerLines = Object.entries(rigMakers).map(([name, rig]) => `${name.padEnd(widestMaker)}  ${rig}`)

export const toolCommands: readonly FlagRow[] = [
  {
    name: 'keygen',
    group: 'mining',
    args: ['[file]'],
    help: 'make a key pair to mine for: in a new FILE that only you can read; without FILE it is printed',
    flags: [new Option('--json', 'as JSON; with FILE its public part and the path')],
    examples: ['newcut keygen my.key', 'newcut keygen', 'newcut keygen --json'],
    run: async ([file], { json }, around) => (await import('./keygen.ts')).runKeygen({ file, json: !!json }, around),
  },
  {
    name: 'devices',
    group: 'mining',
    help: 'list the GPUs of this machine',
    flags: [new Option('--json', 'as JSON'), new Option('--measure', 'search on each for two seconds')],
    examples: ['newcut devices', 'newcut devices --measure', 'newcut devices --json'],
    run: async (_, { json, measure }, around) =>
      (await import('./devices.ts')).runDevices({ json: !!json, measure: !!measure }, around),
  },
  {
    name: 'rigs',
    group: 'mining',
    args: ['[address]'],
    help: 'list the rigs of a running miner with their rates, shares and refusals; ADDRESS is its HTTP address, 127.0.0.1:4148 if not given',
    flags: [new Option('--json', 'as JSON')],
    examples: ['newcut rigs', 'newcut rigs 10.0.0.5:4148', 'newcut rigs --json'],
    run: async ([address], { json }, around) => (await import('./rigs.ts')).runRigs({ address, json: !!json }, around),
  },
  {
    name: 'bench',
    group: 'mining',
    args: [suites],
    help: 'measure kernels, threads, preemption, the whole pipeline and codecs',
    notes: indented('Suites (all, if none is given)', suiteLines),
    flags: [
      new Option('--json <FILE>', 'write the report as JSON').argParser(once('json')),
      new Option('--compare <FILE>', 'compare with an earlier report; exit code 1 when something got worse').argParser(
        once('compare'),
      ),
      new Option('--quick', 'seconds instead of minutes: checks that everything works, not how fast it is'),
      new Option(
        '--rigs <NAME:COUNT,...>',
        'stratum: models of rigs at the server, and the useful part of their hashrate',
      ).argParser(once('rigs')),
    ],
    examples: [
      'newcut bench stratum --rigs ka3:100,kd6:1000',
      'newcut bench kernels --quick',
      'newcut bench kernels threads --json before.json',
      'newcut bench kernels threads --compare before.json',
    ],
    run: async (names, { quick, json, compare, rigs }, around) => {
      const texts = { json, compare, rigs } as Readonly<Record<'json' | 'compare' | 'rigs', string | undefined>>
      return (await import('./bench.ts')).runBench({ suites: names, quick: !!quick, ...texts }, around)
    },
  },
  {
    name: 'contract',
    group: 'contracts',
    args: ['[file...]'],
    help: 'run test files of the contract language (.repl)',
    flags: [new Option('--json', 'print a JSON object for each file')],
    examples: ['newcut contract token.repl', 'newcut contract token.repl sale.repl --json'],
    run: async (files, { json }, around) =>
      (await import('./contract.ts')).runContract({ files, json: !!json }, around),
  },
  {
    name: 'rigs check',
    group: 'tools',
    args: ['<server>'],
    help: 'log in to a stratum server as the rigs of each maker do, and say what they would do there',
    notes: indented('Makers (all, if none is given)', makerLines),
    flags: [
      new Option('--user <USER>', 'whom to log in as, ACCOUNT.WORKER; default: an account without a key').argParser(
        once('user'),
      ),
      new Option('--password <TEXT>', 'password of the user; default: x').argParser(once('password', true)),
      new Option('--maker <NAME>', 'check one maker alone').choices(Object.keys(rigMakers)),
      new Option('--timeout <TIME>', 'how long to wait for each answer, and for the first job; default: 30s').argParser(
        once('timeout'),
      ),
      new Option(
        '--listen-for <TIME>',
        'listen so long after the log-in, and measure how often headers change and what hash power that uses',
      ).argParser(once('listen-for')),
      new Option('--json', 'as JSON'),
    ],
    examples: [
      'newcut rigs check 10.0.0.5:1917',
      'newcut rigs check 10.0.0.5:1917 --listen-for 60s',
      'newcut rigs check stratum+tcp://POOL:1917 --user k:KEY.rig --maker ka3',
    ],
    run: async ([server], flags, around) => (await import('./rigs-check.ts')).runRigsCheck(server, flags, around),
  },
  {
    name: 'inspect',
    group: 'tools',
    args: ['[input]'],
    help: 'show headers, works and work responses: hex, base64, JSON of a node, a file, or - for standard input',
    flags: [],
    examples: [
      'newcut inspect header.hex',
      `curl -s 'http://127.0.0.1:1848/chainweb/0.0/development/chain/0/header?limit=2' | newcut inspect`,
    ],
    run: async ([input = '-'], _, around) => (await import('./inspect.ts')).runInspect(input, around),
  },
]
