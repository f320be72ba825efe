/** The command line: commands, their flags and help, all from the rows of commands and of options. */
import { Command, CommanderError } from 'commander'
import { asNewcutError } from '../core/errors.ts'
import { exitCodeOf } from '../core/exit-codes.ts'
import { type CommandRow, commandGroups } from './command-row.ts'
import { resolveConfig } from './config.ts'
import { reportError } from './console.ts'
import { firstScreen } from './first-screen.ts'
import { addOptions, namedFlags, once } from './flags.ts'
import type { LogFormat } from './levels.ts'
import type { Output } from './line.ts'
import type { Surroundings } from './terminal.ts'
import { usageError } from './usage.ts'

/** Examples in the help of the program itself. */
export const programExamples = ['newcut mine', 'newcut devnet --auto-mine constant:2s', 'newcut help mine'] as const

/** Runs a command line (without node and script), and reports errors. Resolves with the exit code. */
export async function runProgram(
  words: readonly string[],
  surroundings: Surroundings,
  rows: readonly CommandRow[],
): Promise<number> {
  const args = joinedName(words, rows)
  const { environment, out, version } = surroundings
  const state: RunState = { code: 0, format: typedFormat(args, environment) }
  const program = programOf(surroundings, rows, state)
  if (args.length === 0) {
    out.write(firstScreen(rows, version))
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

/** A command whose name is two words, such as `rigs check`, comes as two arguments, also behind `help`. */
function joinedName(args: readonly string[], rows: readonly CommandRow[]): readonly string[] {
  const at = args[0] === 'help' ? 1 : 0
  const name = args.slice(at, at + 2).join(' ')
  return rows.some((row) => row.name === name) ? [...args.slice(0, at), name, ...args.slice(at + 2)] : args
}

/** A request key is 43 letters of base64url, and one in 64 begins with a dash: it is no option of `newcut result`. */
function keyLast(args: readonly string[]): readonly string[] {
  const at = args[0] === 'result' && !args.includes('--') ? args.findIndex((each) => /^-[\w-]{42}$/.test(each)) : -1
  return at < 0 ? args : [...args.slice(0, at), ...args.slice(at + 1), '--', args[at]]
}

/** The log format that was typed, found before options are parsed: errors in options use that format too. */
function typedFormat(args: readonly string[], environment: Surroundings['environment']): LogFormat {
  const typed = args.findLastIndex((arg) => arg === '--log' || arg.startsWith('--log='))
  if (typed < 0) return environment.NEWCUT_LOG === 'json' ? 'json' : 'text'
  return (args[typed] === '--log' ? args[typed + 1] : args[typed].slice('--log='.length)) === 'json' ? 'json' : 'text'
}

/** What a command that ran left behind. */
export interface RunState {
  code: number
  /** How errors are written. */
  format: LogFormat
}

/** The program with a command for each row. A command that runs sets `state`. */
export function programOf(surroundings: Surroundings, rows: readonly CommandRow[], state: RunState): Command {
  const program = new Command('newcut')
    .description('Proof-of-work mining client for braided multi-chain networks.')
    .version(surroundings.version, '-v, --version', 'print the version')
  quiet(program, surroundings.out)
  for (const group of commandGroups) {
    for (const row of rows.filter((each) => each.group === group)) addCommand(program, row, surroundings, state)
  }
  program.commandsGroup(headingOf('tools')).helpCommand('help [command]', 'show the help of a command')
  program.addHelpText('after', `\n${indented('Examples', programExamples)}`)
  return program
}

const headingOf = (group: string) => `${group[0].toUpperCase()}${group.slice(1)}:`

function addCommand(program: Command, row: CommandRow, surroundings: Surroundings, state: RunState): void {
  // Not by program.command(), which takes a second word for an argument.
  const command = program.createCommand(row.name).description(row.help).helpGroup(headingOf(row.group))
  program.addCommand(command)
  for (const arg of row.args ?? []) {
    if (typeof arg === 'string') command.argument(arg)
    else command.addArgument(arg)
  }
  if (row.usage !== undefined) command.usage(row.usage)
  if ('flags' in row) {
    for (const flag of row.flags) command.addOption(flag)
    command.action(async () => {
      state.code = await row.run(command.args, command.opts(), surroundings)
    })
  } else {
    addOptions(command, row.options)
    command.option('--config <FILE>', 'YAML file with options', once('config'))
    command.action(async () => {
      const { config: file, ...flags } = namedFlags(command)
      if (flags.json === true) state.format = 'json'
      const config = resolveConfig(row.options, flags, surroundings.environment, file as string | undefined)
      if ('log' in config.values) state.format = config.values.log as LogFormat
      state.code = await row.run(command.args, config, surroundings)
    })
  }
  quiet(command, surroundings.out)
  if (row.notes !== undefined) command.addHelpText('after', `\n${row.notes}`)
  command.addHelpText('after', `\n${indented('Examples', row.examples)}`)
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

/** A heading, and lines below it. */
export const indented = (heading: string, lines: readonly string[]): string =>
  `${heading}:\n${lines.map((line) => `  ${line}`).join('\n')}`
