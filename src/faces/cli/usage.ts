/** Errors for invalid command lines, with a guess at the intended option or command. */
import type { Command, CommanderError } from 'commander'
import { type NewcutError, operatingError } from '#ground/base/errors.ts'
import { findSimilarName, suggestName } from '#ground/base/similar-names.ts'
import type { CommandRow } from './command-row.ts'
import { cliErrors } from './errors.ts'
import { countText } from './line.ts'

/** Option of another miner -> options here. The error suggests the first one that the command has. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  '-o': ['--node'],
  '--url': ['--node'],
  '--pool': ['--node'],
  '--server': ['--node'],
  '--endpoint': ['--node'],
  '-u': ['--account'],
  '--user': ['--account'],
  '--username': ['--account'],
  '--wallet': ['--account'],
  '--address': ['--account'],
  '-k': ['--public-key', '--mining-public-key'],
  '--key': ['--public-key', '--mining-public-key'],
  '--pubkey': ['--public-key', '--mining-public-key'],
  '-t': ['--threads'],
  '-j': ['--threads'],
  '--cpu-threads': ['--threads'],
  '-d': ['--gpu'],
  '--device': ['--gpu'],
  '--devices': ['--gpu'],
  '--intensity': ['--gpu-batch-ms'],
  '--worksize': ['--gpu-workgroup'],
  '-c': ['--config'],
  '-p': ['--port'],
  '--bind': ['--host'],
  '--datadir': ['--data'],
  '--data-dir': ['--data'],
  '--api': ['--http'],
  '--api-bind': ['--http'],
  '--http-port': ['--http'],
  '--metrics': ['--http'],
  '--http-access-token': ['--http-token'],
  '--api-token': ['--http-token'],
  '--no-api': ['--http off'],
  '--time-limit': ['--duration'],
  '--cpu-priority': ['--priority'],
  '--pause-on-active': ['--idle-only'],
  '--log-format': ['--log'],
  '-l': ['--log-file'],
  '--verbose': ['--log-level debug'],
  '-q': ['--log-level warn'],
  '--quiet': ['--log-level warn'],
  '--tls-fingerprint': ['--fingerprint'],
  '--cacert': ['--ca'],
  '--ca-file': ['--ca'],
}

/**
 * The NewcutError for an error of commander.
 * @param example a right call of the command, if the arguments name one
 */
export function usageError(
  error: CommanderError,
  program: Command,
  args: readonly string[],
  example?: string,
): NewcutError {
  const command = program.commands.find((each) => each.name() === args[0])
  const message = error.message.replace(/^error: /, '').split('\n')[0]
  if (error.code === 'commander.unknownOption') {
    const typed = /'(.*)'/.exec(message)?.[1] ?? ''
    return command === undefined ? missingCommandError(typed, program) : unknownOptionError(typed, command)
  }
  // commander reports `newcut nosuch` with the first code, `newcut help nosuch` with the second.
  if (error.code === 'commander.unknownCommand' || error.code === 'commander.help') {
    const names = program.commands.map((each) => each.name())
    const typed = (args[0] === 'help' ? args[1] : args[0]) ?? ''
    return operatingError(cliErrors.unknownCommand, { name: typed, guess: suggestName(typed, names) })
  }
  return argumentsError(error, message, command, example)
}

const COUNTS = /Expected (\d+) arguments? but got (\d+)/

/** Maximum number of wrong letters of a word that may also be an argument, such as the name of a machine. */
const MAX_SLIPS = 2

/**
 * Checks the second word of a command that has commands of two words: `devnet mien`, `rigs chek`.
 * @throws NewcutError BAD_OPTION if it is a word of no command, or a misspelled one where the command takes an argument
 */
export function checkSecondWord([first, second]: readonly string[], rows: readonly CommandRow[]): void {
  if (second === undefined || second.startsWith('-')) return
  const row = rows.find(({ name }) => name === first)
  const names = rows.map(({ name }) => name).filter((name) => name.startsWith(`${first} `))
  if (row === undefined || names.length === 0) return
  const typed = `${first} ${second}`
  const isMisspelled = /^[a-z]+$/i.test(second) && findSimilarName(typed, names, MAX_SLIPS) !== null
  if (row.args !== undefined && !isMisspelled) return
  throw operatingError(cliErrors.unknownCommand, { name: typed, guess: suggestName(typed, names) })
}

/** The error for missing and for needless arguments, and for flags without their value. */
function argumentsError(
  { code }: CommanderError,
  message: string,
  command: Command | undefined,
  example: string | undefined,
): NewcutError {
  const name = command?.name() ?? 'COMMAND'
  const quoted = /'(.*)'/.exec(message)?.[1] ?? ''
  if (code === 'commander.missingArgument' && example !== undefined) {
    return operatingError(cliErrors.missingArgument, { command: name, argument: quoted.toUpperCase(), example })
  }
  if (code === 'commander.optionMissingArgument') {
    const [flag, placeholder = ''] = quoted.split(', ').at(-1)?.split(' ') ?? []
    return operatingError(cliErrors.missingValue, { flag, placeholder: placeholder.replace(/[<>.]/g, '') })
  }
  const [, expected, count] = COUNTS.exec(message) ?? []
  if (expected === undefined) return operatingError(cliErrors.usage, { message, command: name })
  const most = expected === '0' ? 'no argument' : countText(Number(expected), 'argument')
  return operatingError(cliErrors.tooManyArguments, { command: name, expected: most, count })
}

function unknownOptionError(typed: string, command: Command): NewcutError {
  const known = longFlags(command)
  return operatingError(cliErrors.unknownOption, {
    option: typed,
    guess: suggestionFor(typed, known),
    command: command.name(),
  })
}

/** For `newcut --node URL`: the option may exist, but the command is missing. */
function missingCommandError(typed: string, program: Command): NewcutError {
  const name = typed.split('=')[0]
  const owner = program.commands.find((each) => longFlags(each).includes(name))
  if (owner === undefined) {
    const [mine] = program.commands
    return operatingError(cliErrors.unknownFirstOption, {
      option: typed,
      guess: suggestionFor(typed, longFlags(mine)),
      command: mine.name(),
    })
  }
  return operatingError(cliErrors.missingCommand, { option: typed, command: owner.name() })
}

function suggestionFor(typed: string, known: readonly string[]): string {
  // Values may be attached: --url=http://..., -ohttp://...
  const name = typed.startsWith('--') ? typed.split('=')[0] : typed.slice(0, 2)
  // The option exists, and takes no value.
  if (known.includes(name)) return `; did you mean ${name}?`
  const ours = ELSEWHERE[name]?.find((flag) => known.includes(flag.split(' ')[0]))
  return ours === undefined ? suggestName(name, known) : `; did you mean ${ours}?`
}

function longFlags(command: Command): string[] {
  return command.options.flatMap(({ long }) => (long ? [long] : []))
}
