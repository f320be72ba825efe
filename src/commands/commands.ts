/**
 * A row for each command, in the order of the help. The module of a command is loaded when it runs, so that `inspect`
 * need not wait for servers and threads.
 */

import { type CommandRow, commandRow } from '#faces/cli/command-row.ts'
import { type Shell, shells } from '#faces/cli/completion/shells.ts'
import type { Config } from '#faces/cli/config.ts'
import { blocksOptions } from '#faces/cli/options/blocks.ts'
import { commonDevnetOptions, devnetOptions } from '#faces/cli/options/devnet.ts'
import { commonLeadOptions, fleetOptions, leadOptions } from '#faces/cli/options/lead.ts'
import { commonMineOptions, mineOptions } from '#faces/cli/options/mine.ts'
import { commonPayoutsOptions, payoutsOptions } from '#faces/cli/options/payouts.ts'
import { solveOptions } from '#faces/cli/options/search.ts'
import {
  balanceOptions,
  commonDebugOptions,
  debugOptions,
  fundOptions,
  localOptions,
  resultOptions,
  sendOptions,
  signOptions,
  traceOptions,
  transferOptions,
  typesOptions,
} from '#faces/cli/options/wallet.ts'
import { oneOf, someText, withCompletions } from '#faces/cli/values.ts'
import { keepYoungGenerationSmall } from '#ground/platform/small-heap.ts'
import { controlCommands, controlText } from './control-commands.ts'
import { toolCommands } from './tool-commands.ts'

/** Actions of `newcut fleet`. */
const fleetActions = ['list', 'pause', 'resume'] as const

/** Shells complete one word. */
const oneWordNames = () => commandRows.flatMap(({ name }) => (name.includes(' ') ? [] : [name]))

/** Whether a miner allocates little: rigs and the network of its own would need a larger young generation. */
function isSmallMiner(values: Config<typeof mineOptions>['values']): boolean {
  const { node, pool, fleet, 'stratum-listen': rigs, 'stratum-proxy-listen': proxies } = values
  return (node ?? pool ?? fleet) !== undefined && (rigs ?? proxies) === undefined
}

const miningCommands: readonly CommandRow[] = [
  commandRow({
    name: 'mine',
    group: 'mining',
    help: 'mine for nodes, pools, a fleet, or a network of its own',
    loadsLong: true,
    about: 'Without --node, --pool or --fleet, newcut mines a development network that runs in the same process.',
    options: mineOptions,
    common: commonMineOptions,
    examples: [
      'newcut mine',
      'newcut mine --node http://127.0.0.1:1848 --public-key KEY',
      'newcut mine --pool stratum+tcp://USER@pool.example.com:1917',
      'newcut mine --fleet nats://10.0.0.5:4222 --rig garage-1',
    ],
    run: async (_, config, context) => {
      if (isSmallMiner(config.values)) keepYoungGenerationSmall(process.execArgv, context.environment)
      return (await import('./mine.ts')).runMine(config, context)
    },
  }),
  commandRow({
    name: 'blocks',
    group: 'mining',
    help: 'list the found blocks in the journal, with their verdicts',
    options: blocksOptions,
    examples: [
      'newcut blocks',
      'newcut blocks --last 10',
      'newcut blocks --csv > blocks.csv',
      'newcut blocks --summary',
    ],
    run: async (_, config, context) => (await import('./blocks.ts')).runBlocks(config, context),
  }),
  commandRow({
    name: 'payouts',
    group: 'rigs',
    help: 'divide the rewards of a pool among its rigs, and pay them',
    loadsLong: true,
    about: 'newcut divides the rewards by shares. It pays nothing without --pay.',
    options: payoutsOptions,
    common: commonPayoutsOptions,
    examples: [
      'newcut payouts --public-key KEY --state pool --fee 1',
      'newcut payouts --from 127.0.0.1:4148 --scheme prop --json',
      'newcut payouts --state pool --minimum 0.5 --pay --key pool.key',
    ],
    run: async (_, config, context) => (await import('./payouts.ts')).runPayouts(config, context),
  }),
  commandRow({
    name: 'config',
    group: 'mining',
    args: [
      {
        name: '[command]',
        get kind() {
          return withCompletions(oneWordNames(), someText)
        },
      },
    ],
    help: 'print the effective options of a command as a YAML file',
    about: 'Without COMMAND, they are those of newcut mine.',
    isAboutOptions: true,
    options: mineOptions,
    common: commonMineOptions,
    examples: [
      'newcut config',
      'newcut config --threads 2 --gpu none > miner.yaml',
      'newcut config devnet --config miner.yaml',
    ],
    run: async ([command], config, context) =>
      (await import('./config.ts')).runConfig(command, commandRows, config, context),
  }),
  commandRow({
    name: 'solve',
    group: 'mining',
    args: ['<target>'],
    help: 'solve the work on stdin, as an external worker of a miner',
    options: solveOptions,
    examples: [
      'newcut solve TARGET < work.bin',
      'newcut solve TARGET --threads 2 --priority normal < work.bin',
      `newcut mine --engine external --command 'newcut solve'`,
    ],
    run: async ([target], { values }, context) => (await import('./solve.ts')).runSolve({ target, ...values }, context),
  }),
  commandRow({
    name: 'lead',
    group: 'rigs',
    help: 'lead a fleet: give work to rigs over NATS, or stand by',
    loadsLong: true,
    about: 'Rigs are machines that run newcut mine --fleet. One leader gives the work, and the others stand by.',
    options: leadOptions,
    common: commonLeadOptions,
    examples: [
      'newcut lead --public-key KEY',
      'newcut lead --nats nats://10.0.0.5:4222 --public-key KEY --state leader',
    ],
    run: async (_, config, context) => (await import('./lead.ts')).runLead(config, context),
  }),
  commandRow({
    name: 'fleet',
    group: 'rigs',
    args: [{ name: '[action]', kind: oneOf(fleetActions) }, '[rig]'],
    help: 'list the rigs of a fleet, and pause or resume them',
    about: 'The action is list (default), pause or resume. RIG is a name, or all.',
    options: fleetOptions,
    examples: ['newcut fleet', 'newcut fleet pause RIG', 'newcut fleet resume all', 'newcut fleet --json'],
    run: async (args, config, context) => (await import('./fleet.ts')).runFleet(args, config, context),
  }),
  commandRow({
    name: 'devnet',
    group: 'contracts',
    help: 'run a development network with contracts, and control it',
    loadsLong: true,
    about: `It is one node with the HTTP interface of chainweb-node, at http://${devnetOptions.host.fallback}:${devnetOptions.port.fallback} by default. ${controlText}`,
    options: devnetOptions,
    common: commonDevnetOptions,
    examples: [
      'newcut devnet --auto-mine constant:2s --graph petersen',
      `newcut devnet --auto-mine constant:200ms --exec 'newcut balance sender00'`,
    ],
    run: async (_, config, context) => (await import('./devnet.ts')).runDevnet(config, context),
  }),
]

/** Commands that call contracts. */
const contractCommands: readonly CommandRow[] = [
  commandRow({
    name: 'balance',
    group: 'contracts',
    args: ['[account]'],
    help: 'show the coins of an account on every chain',
    loadsLong: true,
    about: 'Without ACCOUNT, it is the account that newcut mine pays.',
    options: balanceOptions,
    examples: ['newcut balance sender00', 'newcut balance --config miner.yaml --watch'],
    run: async ([account], config, context) => (await import('./balance.ts')).runBalance(account, config, context),
  }),
  commandRow({
    name: 'fund',
    group: 'contracts',
    listedIn: 'devnet',
    args: ['<account>', '<amount>'],
    help: 'mint coins for an account of a development network',
    loadsLong: true,
    about: 'The account is k:KEY, or exists already. The coins come from nobody, in a block of their own.',
    options: fundOptions,
    examples: ['newcut fund k:KEY 100', 'newcut fund sender00 0.5 --chain 3 --json'],
    run: async ([account, amount], config, context) =>
      (await import('./fund.ts')).runFund([account, amount], config, context),
  }),
  commandRow({
    name: 'transfer',
    group: 'contracts',
    args: ['[arguments...]'],
    usage: '[options] [FROM] TO AMOUNT',
    help: 'move coins to an account, on a chain or between chains',
    loadsLong: true,
    about: 'Without FROM, the coins come from the account of the key.',
    options: transferOptions,
    examples: [
      'newcut transfer k:KEY 1.5 --key sender00',
      'newcut transfer sender00 k:KEY 1.5 --key sender00 --chain 0 --to-chain 3',
      'newcut transfer --continue REQUESTKEY --key sender00',
    ],
    run: async (args, config, context) => (await import('./transfer.ts')).runTransfer(args, config, context),
  }),
  commandRow({
    name: 'result',
    group: 'contracts',
    args: ['<request-key>'],
    help: 'wait for the result of a transaction, and print it',
    loadsLong: true,
    options: resultOptions,
    examples: ['newcut result REQUESTKEY', 'newcut result REQUESTKEY --chain 0 --no-wait --json'],
    run: async ([key], config, context) => (await import('./result.ts')).runResult(key, config, context),
  }),
  commandRow({
    name: 'trace',
    group: 'contracts',
    args: ['<request-key>'],
    help: 'show each step of a transaction, with its gas',
    loadsLong: true,
    about: 'A node of newcut devnet executes it again on the state before it, and writes nothing.',
    options: traceOptions,
    examples: ['newcut trace REQUESTKEY', 'newcut trace REQUESTKEY --json'],
    run: async ([key], config, context) => (await import('./trace.ts')).runTrace(key, config, context),
  }),
  commandRow({
    name: 'debug',
    group: 'contracts',
    args: ['<target>'],
    help: 'run a contract test, or a transaction, step by step',
    loadsLong: true,
    about:
      'TARGET is a .repl file, or the request key of a transaction of newcut devnet. Commands are read from stdin; help ' +
      'lists them.',
    options: debugOptions,
    common: commonDebugOptions,
    examples: ['newcut debug token.repl', 'newcut debug token.repl --fork https://NODE', 'newcut debug REQUESTKEY'],
    run: async ([target], config, context) => (await import('./debug.ts')).runDebug(target, config, context),
  }),
  commandRow({
    name: 'local',
    group: 'contracts',
    args: ['<code>'],
    help: 'evaluate code on a node: a read-only call that costs nothing',
    loadsLong: true,
    options: localOptions,
    examples: [
      `newcut local '(coin.get-balance "sender00")'`,
      `newcut local '(read-integer "n")' --data '{"n": 1}' --chain 3`,
      `newcut local '(at "block-time" (chain-data))' --set time=2030-01-01T00:00:00Z`,
    ],
    run: async ([code], config, context) => (await import('./local.ts')).runLocal(code, config, context),
  }),
  commandRow({
    name: 'send',
    group: 'contracts',
    args: ['[code]'],
    help: 'sign code, send it to a node, and wait for the result',
    loadsLong: true,
    about: 'CODE is code, or the name of a file with it.',
    options: sendOptions,
    examples: [
      `newcut send '(+ 1 2)' --key sender00`,
      'newcut send token.pact --key keys.yaml --data @keysets.json --gas-limit 60000',
      `newcut send '(coin.transfer "sender00" "sender01" 1.5)' --key sender00 \\`,
      `    --cap '(coin.GAS)' --cap '(coin.TRANSFER "sender00" "sender01" 1.5)'`,
      'newcut send --request transfer.yaml --key sender00',
    ],
    run: async ([code], config, context) => (await import('./send.ts')).runSend(code, config, context),
  }),
  commandRow({
    name: 'sign',
    group: 'contracts',
    args: ['<file...>'],
    help: 'build and sign the command of a request file, without a node',
    about:
      'FILE is a request, or a command that newcut sign printed. Several files of one command are combined. Without a key, the command is printed unsigned.',
    options: signOptions,
    examples: [
      'newcut sign transfer.yaml > unsigned.yaml',
      'newcut sign unsigned.yaml --key alice.key > by-alice.yaml',
      'newcut sign by-alice.yaml by-bob.yaml > signed.yaml',
      'newcut send --request signed.yaml',
    ],
    run: async (files, config, context) => (await import('./sign.ts')).runSign(files, config, context),
  }),
  commandRow({
    name: 'types',
    group: 'contracts',
    args: ['<contract...>'],
    help: 'declare contracts for TypeScript, with their dependencies',
    loadsLong: true,
    about: 'CONTRACT is a module or an interface of a node, or a file with some.',
    options: typesOptions,
    examples: [
      'newcut types coin --out coin.d.ts',
      'newcut types free.token --node https://NODE --chain 1 --out token.d.ts',
      'newcut types token.pact --out token.d.ts',
    ],
    run: async (args, config, context) => (await import('./types.ts')).runTypes(args, config, context),
  }),
]

/** Completes all commands, itself included. */
const completionCommand = commandRow({
  name: 'completion',
  group: 'tools',
  args: [{ name: '<shell>', kind: oneOf(shells) }],
  help: 'print a completion script for bash, zsh or fish',
  options: {},
  examples: [
    'source <(newcut completion bash)',
    'source <(newcut completion zsh)',
    'newcut completion fish > ~/.config/fish/completions/newcut.fish',
  ],
  run: async ([shell], _, context) =>
    (await import('./completion.ts')).runCompletion(shell as Shell, commandRows, context),
})

export const commandRows: readonly CommandRow[] = [
  ...miningCommands,
  ...controlCommands,
  ...contractCommands,
  ...toolCommands,
  completionCommand,
]
