/** The command line: commands, their flags and their help, from the rows of commands and options. */
import { Argument, Command, CommanderError, Option } from 'commander'
import { asNewcutError } from '#ground/base/errors.ts'
import { exitCodeOf } from '#ground/base/exit-codes.ts'
import { type CommandRow, commandGroups } from './command-row.ts'
import { type RawOptions, resolveLayers } from './config.ts'
import { reportError } from './console.ts'
import { addOptions, namedFlags, type OptionTable, singleValue } from './flags.ts'
import type { LogFormat } from './levels.ts'
import type { Output, ProcessEnvironment } from './line.ts'
import { showOpening } from './opening.ts'
import { refuseWithoutEffect } from './options/needs.ts'
import { type OptionSpec, optionGroups } from './options/row.ts'
import type { CommandContext } from './terminal.ts'
import { checkSecondWord, usageError } from './usage.ts'
import { valueIn } from './values.ts'
import { versionFlags } from './version-flags.ts'

/** Examples in the help of the program itself. */
export const programExamples = ['newcut mine', 'newcut mine --node http://127.0.0.1:1848 --public-key KEY'] as const

/** Runs a command line without node and script, and reports errors. Resolves with the exit code. */
export async function runProgram(
  words: readonly string[],
  context: CommandContext,
  allRows: readonly CommandRow[],
): Promise<number> {
  const args = joinName(words, allRows)
  const rows = withOptionsOf(args, allRows)
  const { environment, out, version } = context
  const state: RunState = { code: 0, format: readLogFormat(args, environment) }
  // Its library for the width of text would delay every other command.
  const help = args.length === 0 || args.some(asksForHelp) ? await import('./help.ts') : null
  // The flags of all commands take longer than most commands.
  const row = rows.find(({ name }) => name === args[0])
  const program = programOf(context, row === undefined ? rows : [row], state, help)
  // A command with a -v of its own does not print the version.
  if (hasOwnV(row)) program.enablePositionalOptions()
  if (args.length === 0) {
    out.write(requireHelp(help).firstScreen(rows, version))
    return 0
  }
  try {
    checkSecondWord(args, allRows)
    await program.parseAsync(moveDashedLast(args), { from: 'user' })
    return state.code
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    const ours =
      error instanceof CommanderError ? usageError(error, program, args, row?.examples[0]) : asNewcutError(error)
    // Commands have usually loaded the tables by now, and errors may take longer.
    const { writeFlags } = await import('./config-file.ts')
    reportError(ours, state.format, context, writeFlags)
    return exitCodeOf(ours.code)
  }
}

/** Whether an argument may make commander show a help text. */
const asksForHelp = (arg: string) => arg === 'help' || /^(?:--help|-[a-z]*h)/.test(arg)

function requireHelp<Texts>(help: Texts | null): Texts {
  if (help === null) throw new Error('the texts of the help are not loaded')
  return help
}

/** The texts of the help. */
type HelpTexts = Pick<typeof import('./help.ts'), 'commandHelp' | 'programHelp'>

function hasOwnV(row: CommandRow | undefined): boolean {
  const specs = Object.values(row?.options ?? {}) as readonly OptionSpec<unknown>[]
  return specs.some(({ short }) => short === '-v')
}

/** Gives a command about the options of another, which its first argument names, those options. */
function withOptionsOf([name, other]: readonly string[], rows: readonly CommandRow[]): readonly CommandRow[] {
  const target = rows.find((row) => row.name === other)
  if (target === undefined) return rows
  const { options, common = Object.keys(options) } = target
  return rows.map((row) => (row.name === name && row.isAboutOptions ? { ...row, options, common } : row))
}

/** Joins the two arguments of a command such as `rigs check`, and replaces an alias, both also behind `help`. */
function joinName(args: readonly string[], rows: readonly CommandRow[]): readonly string[] {
  const at = args[0] === 'help' || args[0] === 'config' ? 1 : 0
  const aliased = rows.find(({ alias }) => alias !== undefined && alias === args[at])
  if (aliased !== undefined) return args.with(at, aliased.name)
  const name = args.slice(at, at + 2).join(' ')
  return rows.some((row) => row.name === name) ? [...args.slice(0, at), name, ...args.slice(at + 2)] : args
}

/** Commands that take a request key. */
const KEYED: ReadonlySet<string | undefined> = new Set(['result', 'trace', 'devnet drop'])

const DASHED_KEY = /^-[\w-]{42}$/

/** The command that takes a step of time. */
const TIMED = 'devnet time'
const STEP_BACK = /^-\d/

/**
 * Moves arguments that look like flags to the end, with `--` before them. They are steps of time, such as -30s, and
 * request keys: 43 letters of base64url, and one key in 64 begins with a dash.
 */
function moveDashedLast(args: readonly string[]): readonly string[] {
  const pattern = KEYED.has(args[0]) ? DASHED_KEY : args[0] === TIMED ? STEP_BACK : null
  if (pattern === null || args.includes('--')) return args
  const dashed = args.filter((each) => pattern.test(each))
  return dashed.length === 0 ? args : [...args.filter((each) => !pattern.test(each)), '--', ...dashed]
}

/** @returns the typed log format. Errors in other options use it too, so it is read before they are parsed. */
function readLogFormat(args: readonly string[], environment: CommandContext['environment']): LogFormat {
  const typed = args.findLastIndex((arg) => arg === '--log' || arg.startsWith('--log='))
  if (typed < 0) return environment.NEWCUT_LOG === 'json' ? 'json' : 'text'
  return (args[typed] === '--log' ? args[typed + 1] : args[typed].slice('--log='.length)) === 'json' ? 'json' : 'text'
}

/** The outcome of a command. */
export interface RunState {
  code: number
  /** The format of errors. */
  format: LogFormat
}

/**
 * The program with a command for each row. A command that runs sets `state`.
 * @param help null if the arguments do not ask for help
 */
export function programOf(
  context: CommandContext,
  rows: readonly CommandRow[],
  state: RunState,
  help: HelpTexts | null,
): Command {
  const program = new Command('newcut')
    .description('newcut mines Chainweb networks, and runs development networks with contracts.')
    .version(context.version, versionFlags.join(', '), 'print the version')
  routeOutput(program, context.out)
  program.configureHelp({ formatHelp: () => requireHelp(help).programHelp(program, rows, programExamples) })
  for (const group of commandGroups) {
    for (const row of rows.filter((each) => each.group === group)) addCommand(program, row, { context, state, help })
  }
  program.helpCommand('help [command]', 'show the help of a command')
  return program
}

interface CommandParts {
  readonly context: CommandContext
  readonly state: RunState
  readonly help: HelpTexts | null
}

function addCommand(program: Command, row: CommandRow, { context, state, help }: CommandParts): void {
  // program.command() would take the second word of a name for an argument.
  const command = program.createCommand(row.name).description(row.help)
  program.addCommand(command)
  for (const arg of row.args ?? []) command.addArgument(argumentOf(arg))
  if (row.usage !== undefined) command.usage(row.usage)
  // The first argument of a command about options comes before all flags.
  const takesSeveral = (row.args ?? []).length === 0 || row.isAboutOptions === true
  addOptions(command, row.options, { common: row.common, takesSeveral })
  const file = new Option('--config <FILE>', 'YAML file with options').argParser(singleValue('config'))
  command.addOption(file.helpGroup(optionGroups.help))
  command.action(async () => {
    const { config: file, ...flags } = namedFlags(command)
    if (flags.json === true) state.format = 'json'
    const config = await configOf(row.options, flags, context.environment, file as string | undefined)
    if (row.isAboutOptions !== true) refuseWithoutEffect(row.options, config)
    if (row.isAboutOptions !== true) await checkOutputs(row.options, config.values)
    if ('log' in config.values) state.format = config.values.log as LogFormat
    // With --exec, the terminal belongs to another command.
    const isQuiet = row.loadsLong !== true || state.format === 'json' || 'exec' in flags
    const opening = isQuiet ? { context, clear: () => undefined } : showOpening(row, context)
    try {
      state.code = await row.run(command.args, config, opening.context)
    } finally {
      opening.clear()
    }
  })
  routeOutput(command, context.out)
  command.configureHelp({ formatHelp: () => requireHelp(help).commandHelp(command, row, false) })
  command.addOption(new Option('--help-all', 'show every option with its details').helpGroup(optionGroups.help))
  command.on('option:help-all', () => {
    context.out.write(requireHelp(help).commandHelp(command, row, true))
    throw new CommanderError(0, 'commander.helpDisplayed', '')
  })
}

/** @throws NewcutError BAD_OUTPUT for a file that the command could not write at its end */
async function checkOutputs(table: OptionTable, values: Readonly<Record<string, unknown>>): Promise<void> {
  const specs = Object.entries(table) as readonly (readonly [string, OptionSpec<unknown>])[]
  for (const [name, { isOutput }] of specs) {
    const path = values[name]
    if (isOutput !== true || typeof path !== 'string') continue
    const { checkOutput } = await import('./output-file.ts')
    checkOutput(`--${name}`, path)
  }
}

async function configOf(
  table: OptionTable,
  flags: RawOptions,
  environment: ProcessEnvironment,
  file: string | undefined,
) {
  if (file === undefined && !Object.keys(environment).some((name) => name.startsWith('NEWCUT_'))) {
    return resolveLayers(table, { orders: {}, flags, environment, content: {}, file: null })
  }
  // It loads the options of all commands, which check the names.
  return (await import('./config-file.ts')).resolveConfig(table, flags, environment, file)
}

function argumentOf(arg: NonNullable<CommandRow['args']>[number]): Argument {
  if (typeof arg === 'string') return new Argument(arg)
  const argument = new Argument(arg.name).argParser((text) => valueIn(arg.kind, text, text))
  if (arg.kind.completions !== undefined) argument.argChoices = [...arg.kind.completions]
  return argument
}

/** Errors are thrown and printed in one place, not by commander. */
function routeOutput(command: Command, out: Output): void {
  command.exitOverride()
  command.configureOutput({ writeOut: (text) => void out.write(text), writeErr: () => undefined })
  command.allowExcessArguments(false)
  const help = new Option('-h, --help', 'show this help').helpGroup(optionGroups.help)
  command.addHelpOption(help)
}
