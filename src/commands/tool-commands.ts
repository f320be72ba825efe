/** The rows of commands that take flags only: the environment and files do not set their options. */
import { Argument, Option } from 'commander'
import { benchSuites } from '../cli/bench-suites.ts'
import type { FlagRow } from '../cli/command-row.ts'
import { once, RowOption } from '../cli/flags.ts'
import { forkFlags, forkValues } from '../cli/fork-flags.ts'
import { section } from '../cli/options/row.ts'
import { oneOf, valueIn, wholeNumber } from '../cli/values.ts'
import { nodeReleases } from '../schema/devnet-modes.ts'
import { contractFlags, contractOptionsOf } from './contract-flags.ts'

const suiteNames = Object.keys(benchSuites)
const widestSuite = Math.max(...suiteNames.map((name) => name.length))
const suiteLines = Object.entries(benchSuites).map(([name, what]) => `${name.padEnd(widestSuite)}  ${what}`)
const suites = new Argument('[suite...]')
// `choices` would list all of them in the usage line.
suites.argChoices = suiteNames

/** The makers of src/stratum-check/makers.ts, which is loaded only when the command runs. */
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

// Rows with many flags make them only for the command that is typed.
export const toolCommands: readonly FlagRow[] = [
  {
    name: 'keygen',
    group: 'mining',
    args: ['[file]'],
    help: 'make a key pair to mine for',
    about: 'newcut writes it to a new FILE that only you can read, or prints it if there is no FILE.',
    flags: [new Option('--json', 'print JSON: with FILE, the public key and the path')],
    examples: ['newcut keygen my.key', 'newcut keygen', 'newcut keygen --json'],
    run: async ([file], { json }, around) => (await import('./keygen.ts')).runKeygen({ file, json: !!json }, around),
  },
  {
    name: 'devices',
    group: 'mining',
    help: 'list the GPUs of this machine',
    flags: [
      new Option('--json', 'print JSON'),
      new Option('--measure', 'measure the hashrate of each, for two seconds'),
    ],
    examples: ['newcut devices', 'newcut devices --measure', 'newcut devices --json'],
    run: async (_, { json, measure }, around) =>
      (await import('./devices.ts')).runDevices({ json: !!json, measure: !!measure }, around),
  },
  {
    name: 'rigs',
    group: 'rigs',
    args: ['[address]'],
    help: 'list the rigs of a miner with hashrates, shares and refusals',
    about: 'ADDRESS is the HTTP address of the running miner, 127.0.0.1:4148 by default.',
    flags: [new Option('--json', 'print JSON')],
    examples: ['newcut rigs', 'newcut rigs 10.0.0.5:4148', 'newcut rigs --json'],
    run: async ([address], { json }, around) => (await import('./rigs.ts')).runRigs({ address, json: !!json }, around),
  },
  {
    name: 'bench',
    group: 'tools',
    args: [suites],
    help: 'measure hashrates, latencies and throughput',
    notes: section('Suites (default: all)', suiteLines),
    flags: [
      new Option('--json <FILE>', 'write the report as JSON to FILE').argParser(once('json')),
      new RowOption('--compare <FILE>', {
        help: 'compare with an earlier report',
        more: 'The exit code is 1 if something got worse.',
      }).argParser(once('compare')),
      new RowOption('--quick', {
        help: 'smoke test that takes seconds, not minutes',
        more: 'It checks that everything works, not how fast it is.',
      }),
      new RowOption('--rigs <NAME:COUNT,...>', {
        help: 'stratum: models of rigs to simulate',
        more: 'The report has the useful part of their hashrate.',
      }).argParser(once('rigs')),
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
    help: 'run contract tests (.repl files)',
    get flags() {
      return [...contractFlags(), ...forkFlags()]
    },
    examples: [
      'newcut contract token.repl',
      'newcut contract token.repl -v --gas-report',
      'newcut contract token.repl sale.repl --gas-snapshot',
      'newcut contract token.repl --coverage --lcov lcov.info',
    ],
    run: async (files, flags, around) => {
      const options = { files, ...contractOptionsOf(flags), fork: forkValues(flags) }
      return (await import('./contract.ts')).runContract(options, around)
    },
  },
  {
    name: 'fork',
    group: 'contracts',
    args: ['<url>', '[file...]'],
    help: 'pin a network, and compare what code does there and here',
    about:
      'newcut prints the cut of a fork, which --fork-cut takes. With --verify it runs the same plain code at the node ' +
      'and here, on the state of the same block, and compares results and gas.',
    get flags() {
      return [
        new RowOption('--verify', {
          help: 'compare results and gas of code',
          more: 'The code is in the files, or made from the modules of the chain. Each top-level form of a file is run alone. A report of an earlier comparison is run again at its cut. The exit code is 1 if anything differs.',
        }),
        new RowOption('--cases <N>', {
          help: 'most pieces of code',
          more: 'It limits code that is made from modules.',
          standard: '1000',
        }).argParser(once('cases')),
        new RowOption('--report <FILE>', {
          help: 'write the differences as JSON',
          more: 'Attach the file to an issue.',
        }).argParser(once('report')),
        new RowOption('--node-release <RELEASE>', {
          help: 'chainweb-node release to follow here',
          more: `One of ${nodeReleases.join(', ')}.`,
          standard: '3.2',
        }).argParser(once('node-release')),
        new RowOption('--network-file <FILE>', {
          help: 'file that describes the network of the node',
          more: 'The rules here are those of the file. newcut has files of public networks.',
        }).argParser(once('network-file')),
        ...forkFlags().filter((flag) => flag.attributeName() !== 'fork'),
      ]
    },
    examples: [
      'newcut fork https://NODE > cut.json',
      'newcut fork https://NODE --verify --report differences.json',
      'newcut fork https://NODE differences.json --verify',
      'newcut fork http://127.0.0.1:1848 code.pact --verify --fork-chains 3',
    ],
    run: async ([url, ...files], { verify, cases, report, nodeRelease: release, networkFile, ...flags }, around) => {
      const number = (raw: string | true | undefined) => valueIn(wholeNumber(1, 1e6), raw ?? 1000, '--cases')
      const command = {
        ...{ files, isVerified: !!verify, most: number(cases), report: report as string | undefined },
        fork: forkValues({ ...flags, fork: url }),
        networkFile: networkFile as string | undefined,
        release: valueIn(oneOf(nodeReleases), release ?? '3.2', '--node-release'),
      }
      return (await import('./fork.ts')).runFork(command, around)
    },
  },
  {
    name: 'format',
    group: 'contracts',
    args: ['<file...>'],
    help: 'format contracts and contract tests (.pact and .repl files)',
    about: 'It keeps comments, line breaks and the meaning. A file that cannot be read stays as it is.',
    flags: [
      new RowOption('--check', {
        help: 'change nothing, and list the files that would change',
        more: 'The exit code is 1 if there are any.',
      }),
    ],
    examples: ['newcut format token.pact', 'newcut format *.pact *.repl --check'],
    run: async (files, { check }, around) => (await import('./format.ts')).runFormat({ files, check: !!check }, around),
  },
  {
    name: 'lsp',
    group: 'contracts',
    help: 'serve an editor: errors, hover, completion, formatting',
    about:
      'It is a language server on stdin and stdout, which editors start. With --fork it knows the modules of a network.',
    get flags() {
      return [new Option('--stdio', 'accepted, since some editors add it; it changes nothing'), ...forkFlags()]
    },
    examples: ['newcut lsp', 'newcut lsp --stdio', 'newcut lsp --fork https://NODE'],
    run: async (_, { stdio, ...flags }, around) => (await import('./lsp.ts')).runLsp(forkValues(flags), around),
  },
  {
    name: 'rigs check',
    group: 'rigs',
    args: ['<server>'],
    help: 'check a stratum server as rigs of each maker would use it',
    about: 'newcut logs in as the rigs of each maker do, and reports how they would fare.',
    notes: section('Makers (default: all)', makerLines),
    flags: [
      new RowOption('--user <USER>', {
        help: 'user to log in as: ACCOUNT.WORKER',
        more: 'Without it, newcut logs in as an account that has no key.',
      }).argParser(once('user')),
      new RowOption('--password <TEXT>', { help: 'password of the user', standard: 'x' }).argParser(
        once('password', true),
      ),
      new Option('--maker <NAME>', 'check only the rigs of this maker').choices(Object.keys(rigMakers)),
      new RowOption('--timeout <TIME>', {
        help: 'timeout of an answer and of the first job',
        standard: '30s',
      }).argParser(once('timeout')),
      new RowOption('--listen-for <TIME>', {
        help: 'keep listening this long after the login',
        more: 'newcut measures how often headers change, and the share of the hashrate of a rig that they keep busy.',
      }).argParser(once('listen-for')),
      new Option('--json', 'print JSON'),
    ],
    examples: [
      'newcut rigs check 10.0.0.5:1917',
      'newcut rigs check 10.0.0.5:1917 --listen-for 60s',
      'newcut rigs check stratum+tcp://POOL:1917 --user k:KEY.rig --maker ka3',
    ],
    run: async ([server], flags, around) => (await import('./rigs-check.ts')).runRigsCheck(server, flags, around),
  },
  {
    name: 'conformance',
    group: 'tools',
    help: 'judge a node, or a client, by the cases of the node interface',
    about:
      'newcut finds out what the node allows, runs those cases, and says what it skipped. With --serve it is the node, ' +
      'and judges the requests of a client.',
    flags: [
      new RowOption('--node <URL>', { help: 'address of the node', standard: 'http://127.0.0.1:1848' }).argParser(
        once('node'),
      ),
      new RowOption('--serve <PORT>', {
        help: 'judge a client: serve it a node at this local port',
        more: '0 takes any free port. The node is a new development network. It has faults and odd answers.',
      }).argParser(once('serve')),
      new RowOption('--idle <TIME>', {
        help: '--serve ends when idle for this long',
        standard: '30s',
      }).argParser(once('idle')),
      new RowOption('--only <TEXT>', {
        help: 'run only the cases whose file or name contains this',
        more: 'Such as headers, or one case: "headers: a page".',
      }).argParser(once('only')),
      new RowOption('--needs <NEED,...>', {
        help: 'run only the cases that need no more than this',
        more: 'Needs: read-only, funded-account, mine, pending, reorg, devnet-orders. Default: all that the node offers.',
      }).argParser(once('needs')),
      new RowOption('--release <NAME>', {
        help: 'expectations where nodes differ',
        more: 'One of spec, live-2.32, live-3.2 and newcut. Default: those of the release that the node names.',
      }).argParser(once('release')),
      new RowOption('--cases <DIR>', {
        help: 'folder of case files',
        more: 'Default: the folder conformance/ of newcut.',
      }).argParser(once('cases')),
      new RowOption('--network-file <FILE>', {
        help: 'file that describes the network of the node',
        more: 'newcut changes nothing on a public network. With --serve it is the network that is served.',
      }).argParser(once('network-file')),
      new RowOption('--timeout <TIME>', { help: 'timeout of each step', standard: '10s' }).argParser(once('timeout')),
      new Option('--insecure', 'accept any certificate'),
      new RowOption('--fingerprint <HASH>', { help: 'SHA-256 of the certificate of the node' }).argParser(
        once('fingerprint'),
      ),
      new Option('--json', 'print the report as JSON'),
      new RowOption('--junit <FILE>', { help: 'also write the report as JUnit XML to FILE' }).argParser(once('junit')),
    ],
    examples: [
      'newcut conformance',
      'newcut conformance --node http://10.0.0.5:1848 --needs read-only',
      'newcut conformance --only headers --release spec',
      'newcut conformance --serve 1848 --junit client.xml',
    ],
    run: async (_, flags, around) => (await import('./conformance.ts')).runConformance(flags, around),
  },
  {
    name: 'inspect',
    group: 'tools',
    args: ['[input]'],
    help: 'decode headers, work and work responses',
    about: 'INPUT is hex, base64, JSON of a node, the name of a file, or - for stdin (default).',
    flags: [
      new RowOption('--network-file <FILE>', {
        help: 'file that describes the network of the records',
        more: 'Headers get its name, and brokenRules lists its rules that they break, as far as one header shows them.',
      }).argParser(once('network-file')),
    ],
    examples: [
      'newcut inspect header.hex',
      `curl -s 'http://127.0.0.1:1848/chainweb/0.0/development/chain/0/header' \\`,
      '    | newcut inspect',
    ],
    run: async ([input = '-'], flags, around) =>
      (await import('./inspect.ts')).runInspect(input, flags.networkFile as string | undefined, around),
  },
]
