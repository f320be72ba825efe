/** Rows of the commands that control a running development network: `newcut devnet mine` and so on. */

import { type CommandFacts, type CommandRow, commandRow } from '#faces/cli/command-row.ts'
import { controlOptions, fundOptions } from '#faces/cli/options/wallet.ts'
import type { ControlAction } from './devnet-control.ts'

type ControlOptions = (typeof controlOptions)[keyof typeof controlOptions]

/** A command that sends a control request to a running development network. */
function controlRow<T extends ControlOptions>(
  action: ControlAction,
  options: T,
  facts: Pick<CommandFacts, 'args' | 'help' | 'about' | 'examples'>,
): CommandRow {
  return commandRow({
    name: `devnet ${action}`,
    group: 'contracts',
    listedIn: 'devnet',
    ...facts,
    loadsLong: true,
    options,
    run: async (args, { values }, context) =>
      (await import('./devnet-control.ts')).runControl(action, args, values, context),
  })
}

/** Commands that control a running development network. */
export const controlCommands: readonly CommandRow[] = [
  controlRow('status', controlOptions.status, {
    help: 'show heights, clock, pauses, faults and snapshots',
    examples: ['newcut devnet status', 'newcut devnet status --json'],
  }),
  controlRow('mine', controlOptions.mine, {
    args: ['[count]'],
    help: 'make blocks: one, or COUNT, on every chain',
    about: 'With --chain, neighbours of the chain grow only as far as it needs them.',
    examples: ['newcut devnet mine', 'newcut devnet mine 5', 'newcut devnet mine 5 --chain 0'],
  }),
  controlRow('fork', controlOptions.fork, {
    args: ['[depth]'],
    help: 'replace the last blocks of a chain: a reorganisation',
    about: 'DEPTH is the number of blocks, 1 by default.',
    examples: ['newcut devnet fork', 'newcut devnet fork 3 --chain 1'],
  }),
  controlRow('snapshot', controlOptions.status, {
    help: 'save chains, rules, mempools and clock',
    examples: ['newcut devnet snapshot', 'newcut devnet snapshot --json'],
  }),
  controlRow('revert', controlOptions.status, {
    args: ['[id]'],
    help: 'restore a snapshot, by default the newest, and drop it',
    examples: ['newcut devnet revert', 'newcut devnet revert 1'],
  }),
  controlRow('reset', controlOptions.status, {
    help: 'go back to the start of the network',
    examples: ['newcut devnet reset', 'newcut devnet reset --json'],
  }),
  controlRow('time', controlOptions.time, {
    args: ['[change]'],
    help: 'show the clock of the network, move it or set it',
    about: 'CHANGE is a step such as +1h or -30s, or a time.',
    examples: ['newcut devnet time', 'newcut devnet time +1h', 'newcut devnet time 2027-01-01T00:00:00Z --next-block'],
  }),
  commandRow({
    name: 'devnet fund',
    group: 'contracts',
    listedIn: 'devnet',
    args: ['<account>', '<amount>'],
    help: 'mint coins for an account, as newcut fund does',
    loadsLong: true,
    options: fundOptions,
    examples: ['newcut devnet fund sender00 100', 'newcut devnet fund k:KEY 0.5 --chain 3'],
    run: async ([account, amount], config, context) =>
      (await import('./fund.ts')).runFund([account, amount], config, context),
  }),
  controlRow('impersonate', controlOptions.impersonate, {
    args: ['<key...>'],
    help: 'check no signatures of public keys, or of all with *',
    examples: ['newcut devnet impersonate k:KEY', 'newcut devnet impersonate k:KEY --off'],
  }),
  controlRow('drop', controlOptions.status, {
    args: ['[request-key...]'],
    help: 'drop pending transactions, by default all',
    examples: ['newcut devnet drop', 'newcut devnet drop REQUESTKEY'],
  }),
  controlRow('faults', controlOptions.faults, {
    args: ['[endpoint]', '[count]'],
    help: 'list faults, or make the next calls of an endpoint fail',
    about: 'COUNT is the number of calls, 1 by default; 0 ends the fault.',
    examples: [
      'newcut devnet faults',
      'newcut devnet faults cut 3 --status 503 --delay 200ms',
      'newcut devnet faults cut 0',
    ],
  }),
]

const actionNames = controlCommands.map(({ name }) => name.slice('devnet '.length))

/** A sentence for the help of `newcut devnet`. */
export const controlText = `newcut devnet ${actionNames.slice(0, -1).join(', ')} and ${actionNames.at(-1)} control it.`
