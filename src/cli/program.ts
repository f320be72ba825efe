/** The command line: commands, their flags and help, all from the option tables. */
import { Command, CommanderError } from 'commander'
import { NewcutError } from '../core/errors.ts'
import { packageVersion } from '../platform/version.ts'
import { type Config, closest, printConfig, resolveConfig } from './config.ts'
import { devnetOptions, mineOptions, type OptionSpec, solveOptions } from './options.ts'

/** What each command does once its options are known. Resolves with the exit code. */
export interface Commands {
  readonly mine: (config: Config<typeof mineOptions>) => Promise<number>
  readonly devnet: (config: Config<typeof devnetOptions>) => Promise<number>
  readonly solve: (target: string, config: Config<typeof solveOptions>) => Promise<number>
  readonly inspect: (input: string) => number
  readonly keygen: (json: boolean) => number
  readonly devices: (options: { readonly json: boolean; readonly measure: boolean }) => Promise<number>
  readonly bench: (options: BenchOptions) => Promise<number>
  readonly print: (text: string) => void
}

/** What to measure (bench/bench.ts). */
export interface BenchOptions {
  readonly suites: readonly string[]
  readonly quick: boolean
  readonly json?: string
  readonly compare?: string
}

type Table = Readonly<Record<string, unknown>>

/** Runs a command line (without node and script). Throws NewcutError. */
export async function runProgram(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  commands: Commands,
): Promise<number> {
  let code = 0
  const program = new Command('newcut')
    .description('Proof-of-work mining client for braided multi-chain networks.')
    .version(packageVersion)
  quiet(program)
  const configured = <T extends Table>(
    command: Command,
    table: T,
    run: (config: Config<T>, args: readonly string[]) => Promise<number>,
  ) => {
    addOptions(command, table)
    command.option('--config <FILE>', 'YAML file with options')
    command.action(async () => {
      const { config, ...flags } = namedFlags(command)
      code = await run(resolveConfig(table, flags, environment, config as string | undefined), command.args)
    })
  }
  configured(
    program.command('mine').description('mine, for a node or for an embedded network'),
    mineOptions,
    commands.mine,
  )
  configured(program.command('devnet').description('run an embedded node'), devnetOptions, commands.devnet)
  configured(
    program.command('config').description('print the effective options of mine'),
    mineOptions,
    async (config) => {
      commands.print(printConfig(mineOptions, config))
      return 0
    },
  )
  configured(
    program.command('solve <target>').description('solve the work on standard input, as an external worker of a miner'),
    solveOptions,
    (config, [target]) => commands.solve(target, config),
  )
  addPlainCommands(program, commands, (result) => {
    code = result
  })
  for (const command of program.commands) quiet(command)
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return 0
    throw usageError(error, program, args)
  }
  return code
}

/** Commands that are not configured: each tells its exit code. */
function addPlainCommands(program: Command, commands: Commands, done: (code: number) => void): void {
  program
    .command('inspect [input]')
    .description('show headers, works and work responses: hex, base64url, a file, or - for standard input')
    .action((input = '-') => {
      done(commands.inspect(input))
    })
  program
    .command('keygen')
    .description('make a key pair to mine for')
    .option('--json', 'as JSON')
    .action(({ json }) => {
      done(commands.keygen(json === true))
    })
  program
    .command('devices')
    .description('list the GPUs of this machine')
    .option('--json', 'as JSON')
    .option('--measure', 'search on each for two seconds')
    .action(async ({ json, measure }) => {
      done(await commands.devices({ json: json === true, measure: measure === true }))
    })
  program
    .command('bench [suite...]')
    .description('measure kernels, threads, preemption, the whole pipeline and codecs')
    .option('--json <FILE>', 'write the report as JSON')
    .option('--compare <FILE>', 'compare with an earlier report; exit code 1 when something got worse')
    .option('--quick', 'seconds instead of minutes: enough to see that everything is right')
    .action(async (suites: string[], { quick: isQuick, ...files }) => {
      done(await commands.bench({ suites, quick: isQuick === true, ...files }))
    })
}

function addOptions(command: Command, table: Table): void {
  for (const [name, entry] of Object.entries(table)) {
    const { kind, fallback, placeholder, help } = entry as OptionSpec<unknown>
    if (placeholder === null) {
      command.option(`--${fallback === true ? 'no-' : ''}${name}`, help)
      continue
    }
    const standard = fallback === undefined ? '' : ` (default: ${kind.format(fallback)})`
    const several = name.endsWith('public-key')
    if (several) command.option(`--${name} <${placeholder}...>`, help + standard)
    else command.option(`--${name} <${placeholder}>`, help + standard)
  }
}

/** Flags that were typed, by option name: `block-delay`, not `blockDelay`. */
function namedFlags(command: Command): Record<string, unknown> {
  const flags: Record<string, unknown> = {}
  for (const option of command.options) {
    const attribute = option.attributeName()
    if (command.getOptionValueSource(attribute) !== 'cli') continue
    flags[option.name().replace(/^no-/, '')] = command.getOptionValue(attribute)
  }
  return flags
}

/** Errors are thrown and printed in one place, not by commander. */
function quiet(command: Command): void {
  command.exitOverride()
  command.configureOutput({ writeErr: () => undefined })
  command.allowExcessArguments(false)
  command.helpOption('-h, --help', 'show this help')
}

function usageError(error: CommanderError, program: Command, args: readonly string[]): NewcutError {
  const command = program.commands.find((each) => each.name() === args[0])
  const message = error.message.replace(/^error: /, '').split('\n')[0]
  if (error.code === 'commander.unknownOption') {
    const typed = /'(.*)'/.exec(message)?.[1] ?? ''
    const known = command?.options.flatMap(({ long }) => (long ? [long] : [])) ?? []
    return new NewcutError('BAD_OPTION', `${typed}: no such option${closest(typed, known)}`, {
      hint: `newcut ${command?.name() ?? ''} --help lists them all`.replace('  ', ' '),
    })
  }
  if (error.code === 'commander.help' || error.code === 'commander.unknownCommand') {
    const names = program.commands.map((each) => each.name())
    const what = args[0] === undefined ? 'no command given' : `${args[0]}: no such command`
    const guess = args[0] === undefined ? '' : closest(args[0], names)
    return new NewcutError('BAD_OPTION', `${what}${guess}`, { hint: `commands: ${names.join(', ')}` })
  }
  return new NewcutError('BAD_OPTION', message)
}
