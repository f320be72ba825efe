/** The command line: commands, their flags and help, all from the option tables. */
import { Argument, Command, CommanderError } from 'commander'
import { asNewcutError } from '../core/errors.ts'
import { exitCodeOf } from '../core/exit-codes.ts'
import { type Config, resolveConfig } from './config.ts'
import { type LogFormat, reportError, type Terminal } from './console.ts'
import { addExamples } from './examples.ts'
import { firstScreen } from './first-screen.ts'
import { addOptions, namedFlags, once, type Table } from './flags.ts'
import type { Output } from './line.ts'
import {
  type balanceOptions,
  blocksOptions,
  devnetOptions,
  fleetOptions,
  leadOptions,
  type localOptions,
  mineOptions,
  type resultOptions,
  type sendOptions,
  solveOptions,
  type transferOptions,
} from './options.ts'
import { addPlainCommands } from './plain-commands.ts'
import { usageError } from './usage.ts'
import { addWalletCommands } from './wallet-commands.ts'

/** Runs each command once its options are known. Resolves with the exit code. */
export interface Commands {
  readonly mine: (config: Config<typeof mineOptions>) => Promise<number>
  readonly lead: (config: Config<typeof leadOptions>) => Promise<number>
  /** `args`: what to do, and with which rig. */
  readonly fleet: (args: readonly string[], config: Config<typeof fleetOptions>) => Promise<number>
  readonly devnet: (config: Config<typeof devnetOptions>) => Promise<number>
  readonly solve: (target: string, config: Config<typeof solveOptions>) => Promise<number>
  readonly config: (config: Config<typeof mineOptions>) => Promise<number>
  readonly local: (code: string, config: Config<typeof localOptions>) => Promise<number>
  readonly balance: (account: string | undefined, config: Config<typeof balanceOptions>) => Promise<number>
  readonly send: (code: string, config: Config<typeof sendOptions>) => Promise<number>
  /** `args`: sender (may be left out), receiver and amount; none to continue a transfer. */
  readonly transfer: (args: readonly string[], config: Config<typeof transferOptions>) => Promise<number>
  readonly result: (requestKey: string, config: Config<typeof resultOptions>) => Promise<number>
  readonly blocks: (config: Config<typeof blocksOptions>) => Promise<number>
  readonly inspect: (input: string) => Promise<number>
  readonly contract: (options: { readonly files: readonly string[]; readonly json: boolean }) => Promise<number>
  readonly keygen: (options: { readonly file: string | undefined; readonly json: boolean }) => Promise<number>
  readonly devices: (options: { readonly json: boolean; readonly measure: boolean }) => Promise<number>
  readonly bench: (options: BenchOptions) => Promise<number>
}

/** What `newcut fleet` does. */
export const fleetOrders = ['list', 'pause', 'resume'] as const

/** The version of the program, and the terminal that it runs in. */
export interface Surroundings extends Terminal {
  readonly version: string
  /** All of standard input; waits for its end. */
  readonly input: () => Uint8Array
  /** Runs a task with a signal that aborts when the user stops the program. */
  readonly untilStopped: <T>(task: (stopped: AbortSignal) => Promise<T>) => Promise<T>
}

/** Prints lines there. */
export function printerTo(out: Output): (line: string) => void {
  return (line) => void out.write(`${line}\n`)
}

/** What to measure (bench/bench.ts). */
export interface BenchOptions {
  readonly suites: readonly string[]
  readonly quick: boolean
  readonly json?: string
  readonly compare?: string
}

/** Runs a command line (without node and script), and reports errors. Resolves with the exit code. */
export async function runProgram(
  args: readonly string[],
  surroundings: Terminal & Pick<Surroundings, 'version'>,
  commands: Commands,
): Promise<number> {
  const { environment, out, version } = surroundings
  const state: RunState = { code: 0, format: typedFormat(args, environment) }
  const program = programOf(surroundings, commands, state)
  if (args.length === 0) {
    out.write(firstScreen(program, version))
    return 0
  }
  try {
    await program.parseAsync(keyLast(args), { from: 'user' })
    return state.code
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    const ours = error instanceof CommanderError ? usageError(error, program, args) : asNewcutError(error)
    reportError(ours, state.format, surroundings)
    return exitCodeOf(ours.code)
  }
}

/** A request key is 43 letters of base64url, and one in 64 begins with a dash: it is no option of `newcut result`. */
function keyLast(args: readonly string[]): readonly string[] {
  const at = args[0] === 'result' && !args.includes('--') ? args.findIndex((each) => /^-[\w-]{42}$/.test(each)) : -1
  return at < 0 ? args : [...args.slice(0, at), ...args.slice(at + 1), '--', args[at]]
}

/** All commands, with their options, arguments, help and examples. A command that runs sets `state`. */
export function programOf(
  surroundings: Pick<Surroundings, 'version' | 'environment' | 'out'>,
  commands: Commands,
  state: RunState,
): Command {
  const program = new Command('newcut')
    .description('Proof-of-work mining client for braided multi-chain networks.')
    .version(surroundings.version, '-v, --version', 'print the version')
  quiet(program, surroundings.out)
  addConfiguredCommands(program, commands, surroundings.environment, state)
  addPlainCommands(program, commands, (result) => {
    state.code = result
  })
  for (const command of program.commands) quiet(command, surroundings.out)
  for (const command of [program, ...program.commands]) addExamples(command)
  return program
}

/** What a command that ran left behind. */
export interface RunState {
  code: number
  /** How errors are written. */
  format: LogFormat
}

/** The log format that was typed, found before options are parsed: errors in options use that format too. */
function typedFormat(args: readonly string[], environment: Surroundings['environment']): LogFormat {
  const typed = args.findLastIndex((arg) => arg === '--log' || arg.startsWith('--log='))
  if (typed < 0) return environment.NEWCUT_LOG === 'json' ? 'json' : 'text'
  return (args[typed] === '--log' ? args[typed + 1] : args[typed].slice('--log='.length)) === 'json' ? 'json' : 'text'
}

/** Gives a command the options of a table, and runs it once they are known. */
export type Configure = <T extends Table>(
  command: Command,
  table: T,
  run: (config: Config<T>, args: readonly string[]) => Promise<number>,
) => void

/** Commands whose options come from flags, the environment and a file. */
function addConfiguredCommands(
  program: Command,
  commands: Commands,
  environment: Surroundings['environment'],
  state: RunState,
): void {
  const configured: Configure = (command, table, run) => {
    addOptions(command, table)
    command.option('--config <FILE>', 'YAML file with options', once('config'))
    command.action(async () => {
      const { config: file, ...flags } = namedFlags(command)
      if (flags.json === true) state.format = 'json'
      const config = resolveConfig(table, flags, environment, file as string | undefined)
      if ('log' in config.values) state.format = config.values.log as LogFormat
      state.code = await run(config, command.args)
    })
  }
  const mine = program.command('mine').description('mine, for a node or for an embedded network')
  configured(mine, mineOptions, commands.mine)
  configured(program.command('devnet').description('run an embedded node'), devnetOptions, commands.devnet)
  const lead = program.command('lead')
  lead.description('lead a fleet: give work to rigs on other machines (mine --fleet) over NATS, or stand by')
  configured(lead, leadOptions, commands.lead)
  const what = new Argument('[what]', 'list (if not given), pause or resume').choices(fleetOrders)
  const fleet = program.command('fleet').addArgument(what).argument('[rig]', 'name of a rig, or all')
  fleet.description('list the rigs of a fleet; pause and resume one, or all')
  configured(fleet, fleetOptions, (config, args) => commands.fleet(args, config))
  const config = program.command('config').description('print the effective options of mine')
  configured(config, mineOptions, commands.config)
  const solve = program.command('solve <target>')
  solve.description('solve the work on standard input, as an external worker of a miner')
  configured(solve, solveOptions, (config, [target]) => commands.solve(target, config))
  const blocks = program
    .command('blocks')
    .description('list the blocks in the journal of a miner, and what became of them')
  configured(blocks, blocksOptions, commands.blocks)
  addWalletCommands(program, commands, configured)
}

/** Errors are thrown and printed in one place, not by commander. */
function quiet(command: Command, out: Output): void {
  command.exitOverride()
  command.configureOutput({ writeOut: (text) => void out.write(text), writeErr: () => undefined })
  command.allowExcessArguments(false)
  command.helpOption('-h, --help', 'show this help')
  // Descriptions name choices and defaults themselves.
  command.configureHelp({ optionDescription: ({ description }) => description })
}
