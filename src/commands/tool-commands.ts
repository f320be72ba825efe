/** The rows of commands that start without the options of all others. */
import { benchSuites } from '#faces/cli/bench-suites.ts'
import { type CommandRow, commandRow } from '#faces/cli/command-row.ts'
import { conformanceOptions, rigsCheckOptions } from '#faces/cli/options/conformance.ts'
import {
  commonForkOptions,
  commonLspOptions,
  dapOptions,
  forkCommandOptions,
  lspOptions,
} from '#faces/cli/options/fork.ts'
import { section } from '#faces/cli/options/row.ts'
import { commonTestOptions, testOptions } from '#faces/cli/options/test.ts'
import {
  benchOptions,
  devicesOptions,
  formatOptions,
  initOptions,
  inspectOptions,
  keygenOptions,
  rigsOptions,
} from '#faces/cli/options/tools.ts'
import { someText, withCompletions } from '#faces/cli/values.ts'
import { makerRigs } from '#pool/stratum-check/maker-rigs.ts'

const suiteNames = Object.keys(benchSuites)
const widestSuite = Math.max(...suiteNames.map((name) => name.length))
const suiteLines = Object.entries(benchSuites).map(([name, what]) => `${name.padEnd(widestSuite)}  ${what}`)

const widestMaker = Math.max(...Object.keys(makerRigs).map((name) => name.length))
const makerLines = Object.entries(makerRigs).map(([name, rig]) => `${name.padEnd(widestMaker)}  ${rig}`)

export const toolCommands: readonly CommandRow[] = [
  commandRow({
    name: 'keygen',
    group: 'mining',
    args: ['[file]'],
    help: 'make a key pair to mine for',
    about: 'newcut writes it to a new FILE that only you can read, or prints it if there is no FILE.',
    options: keygenOptions,
    examples: ['newcut keygen my.key', 'newcut keygen', 'newcut keygen --json'],
    run: async ([file], { values: { json } }, context) =>
      (await import('./keygen.ts')).runKeygen({ file, json }, context),
  }),
  commandRow({
    name: 'devices',
    group: 'mining',
    help: 'list the GPUs of this machine',
    loadsLong: true,
    options: devicesOptions,
    examples: ['newcut devices', 'newcut devices --measure', 'newcut devices --json'],
    run: async (_, { values }, context) => (await import('./devices.ts')).runDevices(values, context),
  }),
  commandRow({
    name: 'rigs',
    group: 'rigs',
    args: ['[address]'],
    help: 'list the rigs of a miner with hashrates, shares and refusals',
    about: 'ADDRESS is the HTTP address of the running miner, 127.0.0.1:4148 by default.',
    options: rigsOptions,
    examples: ['newcut rigs', 'newcut rigs 10.0.0.5:4148', 'newcut rigs --wide', 'newcut rigs --json'],
    run: async ([address], { values }, context) => (await import('./rigs.ts')).runRigs({ address, ...values }, context),
  }),
  commandRow({
    name: 'bench',
    group: 'tools',
    args: [{ name: '[suite...]', kind: withCompletions(suiteNames, someText) }],
    help: 'measure hashrates, latencies and throughput',
    loadsLong: true,
    notes: section('Suites (default: all)', suiteLines),
    options: benchOptions,
    examples: [
      'newcut bench stratum --rigs ka3:100,kd6:1000',
      'newcut bench kernels --quick',
      'newcut bench kernels threads --json before.json',
      'newcut bench kernels threads --compare before.json',
    ],
    run: async (suites, { values }, context) => (await import('./bench.ts')).runBench({ suites, ...values }, context),
  }),
  commandRow({
    name: 'init',
    group: 'contracts',
    args: ['[name]'],
    help: 'make a project with a contract, its tests and its types',
    about: 'NAME is a folder that is new or empty. The last word of its path is the name of the package.',
    options: initOptions,
    examples: ['newcut init my-contracts', 'newcut init .'],
    run: async ([name], _, context) => (await import('./init.ts')).runInit(name, context),
  }),
  commandRow({
    name: 'test',
    alias: 'contract',
    group: 'contracts',
    args: ['[file...]'],
    help: 'run contract tests (.repl files)',
    loadsLong: true,
    about:
      'FILE is a test file, or a folder: newcut runs the test files in it and below, without those that others load. ' +
      'Without FILE, it is the current folder. newcut contract is the same command.',
    options: testOptions,
    common: commonTestOptions,
    examples: [
      'newcut test',
      'newcut test token.repl -v --gas-report',
      'newcut test token.repl sale.repl --gas-snapshot',
      'newcut test token.repl --coverage --lcov lcov.info',
    ],
    run: async (files, { values }, context) => (await import('./test.ts')).runTestCommand(files, values, context),
  }),
  commandRow({
    name: 'fork',
    group: 'contracts',
    args: ['<url>', '[file...]'],
    help: 'pin a network, and compare what code does there and here',
    loadsLong: true,
    about:
      'newcut prints the cut of a fork, which --fork-cut takes. With --verify it runs the same plain code at the node ' +
      'and here, on the state of the same block, and compares results and gas.',
    options: forkCommandOptions,
    common: commonForkOptions,
    examples: [
      'newcut fork https://NODE > cut.json',
      'newcut fork https://NODE --verify --report differences.json',
      'newcut fork https://NODE differences.json --verify',
      'newcut fork http://127.0.0.1:1848 code.pact --verify --fork-chains 3',
    ],
    run: async ([url, ...files], { values }, context) =>
      (await import('./fork.ts')).runFork({ url, files, values }, context),
  }),
  commandRow({
    name: 'format',
    group: 'contracts',
    args: ['<file...>'],
    help: 'format contracts and contract tests (.pact and .repl files)',
    about: 'It keeps comments, line breaks and the meaning. A file that cannot be read stays as it is.',
    options: formatOptions,
    examples: ['newcut format token.pact', 'newcut format *.pact *.repl --check'],
    run: async (files, { values: { check } }, context) =>
      (await import('./format.ts')).runFormat({ files, check }, context),
  }),
  commandRow({
    name: 'lsp',
    group: 'contracts',
    help: 'serve an editor: errors, hover, completion, formatting',
    about:
      'It is a language server on stdin and stdout, which editors start. With --fork it knows the modules of a network.',
    options: lspOptions,
    common: commonLspOptions,
    examples: ['newcut lsp', 'newcut lsp --stdio', 'newcut lsp --fork https://NODE'],
    run: async (_, { values }, context) => (await import('./lsp.ts')).runLsp(values, context),
  }),
  commandRow({
    name: 'dap',
    group: 'contracts',
    listedIn: 'debug',
    help: 'serve an editor: breakpoints, steps and variables of contracts',
    about: 'It is a debug adapter on stdin and stdout, which editors start.',
    options: dapOptions,
    examples: ['newcut dap', 'newcut dap --stdio'],
    run: async (_, __, context) => (await import('./dap.ts')).runDap(context),
  }),
  commandRow({
    name: 'rigs check',
    group: 'rigs',
    args: ['<server>'],
    help: 'check a stratum server as rigs of each maker would use it',
    about: 'newcut logs in as the rigs of each maker do, and reports how they would fare.',
    notes: section('Makers (default: all)', makerLines),
    options: rigsCheckOptions,
    examples: [
      'newcut rigs check 10.0.0.5:1917',
      'newcut rigs check 10.0.0.5:1917 --listen-for 60s',
      'newcut rigs check stratum+tcp://POOL:1917 --user k:KEY.rig --maker ka3',
    ],
    run: async ([server], { values }, context) =>
      (await import('./rigs-check.ts')).runRigsCheck(server, values, context),
  }),
  commandRow({
    name: 'conformance',
    group: 'tools',
    help: 'judge a node, or a client, by the cases of the node interface',
    loadsLong: true,
    about:
      'newcut finds out what the node allows, runs those cases, and says what it skipped. With --serve it is the node, ' +
      'and judges the requests of a client.',
    options: conformanceOptions,
    examples: [
      'newcut conformance',
      'newcut conformance --node http://10.0.0.5:1848 --needs read-only',
      'newcut conformance --only headers --release spec',
      'newcut conformance --serve 1848 --junit client.xml',
    ],
    run: async (_, { values }, context) => (await import('./conformance.ts')).runConformance(values, context),
  }),
  commandRow({
    name: 'inspect',
    group: 'tools',
    args: ['[input]'],
    help: 'decode headers, work and work responses',
    about: 'INPUT is hex, base64, JSON of a node, the name of a file, or - for stdin (default).',
    options: inspectOptions,
    examples: [
      'newcut inspect header.hex',
      `curl -s 'http://127.0.0.1:1848/chainweb/0.0/development/chain/0/header' \\`,
      '    | newcut inspect',
    ],
    run: async ([input = '-'], { values }, context) =>
      (await import('./inspect.ts')).runInspect(input, values['network-file'], context),
  }),
]
