/**
 * Every command, a row for each, in the order of the help. A command is loaded only when it runs: `inspect` need not wait
 * for servers and threads.
 */
import { Argument } from 'commander'
import { type CommandRow, configured, type FlagRow } from '../cli/command-row.ts'
import { type Shell, shells } from '../cli/completion/shells.ts'
import { blocksOptions } from '../cli/options/blocks.ts'
import { devnetOptions } from '../cli/options/devnet.ts'
import { fleetOptions, leadOptions } from '../cli/options/lead.ts'
import { mineOptions } from '../cli/options/mine.ts'
import { payoutsOptions } from '../cli/options/payouts.ts'
import { solveOptions } from '../cli/options/search.ts'
import { balanceOptions, localOptions, resultOptions, sendOptions, transferOptions } from '../cli/options/wallet.ts'
import { runProgram } from '../cli/program.ts'
import type { Surroundings } from '../cli/terminal.ts'
import { toolCommands } from './tool-commands.ts'

/** Orders that `newcut fleet` takes. */
const fleetOrders = ['list', 'pause', 'resume'] as const

const miningCommands: readonly CommandRow[] = [
  configured({
    name: 'mine',
    group: 'mining',
    help: 'mine, for a node or for an embedded network',
    options: mineOptions,
    examples: [
      'newcut mine',
      'newcut mine --blocks 20 --difficulty 10k',
      'newcut mine --node http://127.0.0.1:1848 --public-key KEY',
      'newcut mine --fleet nats://10.0.0.5:4222 --rig garage-1',
    ],
    run: async (_, config, around) => (await import('./mine.ts')).runMine(config, around),
  }),
  configured({
    name: 'blocks',
    group: 'mining',
    help: 'list the blocks in the journal of a miner, and what became of them',
    options: blocksOptions,
    examples: ['newcut blocks', 'newcut blocks --last 10', 'newcut blocks --csv > blocks.csv'],
    run: async (_, config, around) => (await import('./blocks.ts')).runBlocks(config, around),
  }),
  configured({
    name: 'payouts',
    group: 'mining',
    help: 'divide the rewards of a pool among its rigs by their shares; with --pay, pay them',
    options: payoutsOptions,
    examples: [
      'newcut payouts --node http://127.0.0.1:1848 --public-key KEY --state pool --fee 1',
      'newcut payouts --from 127.0.0.1:4148 --scheme prop --json',
      'newcut payouts --state pool --minimum 0.5 --pay --key pool.key',
    ],
    run: async (_, config, around) => (await import('./payouts.ts')).runPayouts(config, around),
  }),
  configured({
    name: 'config',
    group: 'mining',
    help: 'print the effective options of mine',
    options: mineOptions,
    examples: [
      'newcut config',
      'newcut config --threads 2 --gpu none > miner.yaml',
      'newcut config --config miner.yaml',
    ],
    run: async (_, config, around) => (await import('./config.ts')).runConfig(config, around),
  }),
  configured({
    name: 'solve',
    group: 'mining',
    args: ['<target>'],
    help: 'solve the work on standard input, as an external worker of a miner',
    options: solveOptions,
    examples: [
      'newcut solve TARGET < work.bin',
      'newcut solve TARGET --threads 2 --priority normal < work.bin',
      `newcut mine --engine external --command 'newcut solve'`,
    ],
    run: async ([target], { values }, around) => (await import('./solve.ts')).runSolve({ target, ...values }, around),
  }),
  configured({
    name: 'lead',
    group: 'fleets',
    help: 'lead a fleet: give work to rigs on other machines (mine --fleet) over NATS, or stand by',
    options: leadOptions,
    examples: [
      'newcut lead --public-key KEY',
      'newcut lead --nats nats://10.0.0.5:4222 --node http://10.0.0.5:1848 --public-key KEY --state leader',
    ],
    run: async (_, config, around) => (await import('./lead.ts')).runLead(config, around),
  }),
  configured({
    name: 'fleet',
    group: 'fleets',
    args: [new Argument('[what]', 'list (if not given), pause or resume').choices(fleetOrders), '[rig]'],
    help: 'list the rigs of a fleet; pause and resume one, or all',
    options: fleetOptions,
    examples: ['newcut fleet', 'newcut fleet pause RIG', 'newcut fleet resume all', 'newcut fleet --json'],
    run: async (args, config, around) => (await import('./fleet.ts')).runFleet(args, config, around),
  }),
  configured({
    name: 'devnet',
    group: 'networks',
    help: 'run an embedded node',
    options: devnetOptions,
    examples: [
      'newcut devnet',
      'newcut devnet --auto-mine constant:2s --graph petersen',
      `newcut devnet --auto-mine constant:200ms --exec 'newcut balance sender00'`,
      'newcut devnet --mine --data network --log-requests',
    ],
    run: async (_, config, around) => (await import('./devnet.ts')).runDevnet(config, around),
  }),
]

/** Commands that talk to contracts. */
const contractCommands: readonly CommandRow[] = [
  configured({
    name: 'balance',
    group: 'coins',
    args: ['[account]'],
    help: 'show the coins of an account on every chain; without ACCOUNT, of the one that newcut mine pays',
    options: balanceOptions,
    examples: ['newcut balance sender00', 'newcut balance --config miner.yaml --watch'],
    run: async ([account], config, around) => (await import('./balance.ts')).runBalance(account, config, around),
  }),
  configured({
    name: 'transfer',
    group: 'coins',
    args: ['[arguments...]'],
    usage: '[options] [FROM] TO AMOUNT',
    help: 'move coins to an account, on a chain or between chains; without FROM, from the account of the key',
    options: transferOptions,
    examples: [
      'newcut transfer k:KEY 1.5 --key sender00',
      'newcut transfer sender00 k:KEY 1.5 --key sender00 --chain 0 --to-chain 3',
      'newcut transfer --continue REQUESTKEY --key sender00',
    ],
    run: async (args, config, around) => (await import('./transfer.ts')).runTransfer(args, config, around),
  }),
  configured({
    name: 'result',
    group: 'coins',
    args: ['<request-key>'],
    help: 'wait for the result of a command that was sent, and print it',
    options: resultOptions,
    examples: ['newcut result REQUESTKEY', 'newcut result REQUESTKEY --chain 0 --no-wait --json'],
    run: async ([key], config, around) => (await import('./result.ts')).runResult(key, config, around),
  }),
  configured({
    name: 'local',
    group: 'contracts',
    args: ['<code>'],
    help: 'run code on a node, and print its value: nothing is written, nothing is paid',
    options: localOptions,
    examples: [
      `newcut local '(coin.get-balance "sender00")'`,
      `newcut local '(read-integer "n")' --data '{"n": 1}' --chain 3`,
    ],
    run: async ([code], config, around) => (await import('./local.ts')).runLocal(code, config, around),
  }),
  configured({
    name: 'send',
    group: 'contracts',
    args: ['<code>'],
    help: 'sign code (or a file of it), send it to a node, and wait for the result',
    options: sendOptions,
    examples: [
      `newcut send '(+ 1 2)' --key sender00`,
      'newcut send token.pact --key keys.yaml --data @keysets.json --gas-limit 60000',
      `newcut send '(coin.transfer "sender00" "sender01" 1.5)' --key sender00 \\`,
      `    --cap '(coin.GAS)' --cap '(coin.TRANSFER "sender00" "sender01" 1.5)'`,
    ],
    run: async ([code], config, around) => (await import('./send.ts')).runSend(code, config, around),
  }),
]

/** Completes all of them, itself too. */
const completionCommand: FlagRow = {
  name: 'completion',
  group: 'tools',
  args: [new Argument('<shell>').choices(shells)],
  help: 'print a script that completes commands, options and values in bash, zsh or fish',
  flags: [],
  examples: [
    'source <(newcut completion bash)',
    'source <(newcut completion zsh)',
    'newcut completion fish > ~/.config/fish/completions/newcut.fish',
  ],
  run: async ([shell], _, around) =>
    (await import('./completion.ts')).runCompletion(shell as Shell, commandRows, around),
}

export const commandRows: readonly CommandRow[] = [
  ...miningCommands,
  ...contractCommands,
  ...toolCommands,
  completionCommand,
]

/** Runs a command line, without node and script, in these surroundings. Resolves with the exit code. */
export function newcut(args: readonly string[], surroundings: Surroundings): Promise<number> {
  return runProgram(args, surroundings, commandRows)
}
