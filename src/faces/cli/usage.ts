/** Errors for invalid command lines, with a guess at the intended option or command. */
import type { Command, CommanderError } from 'commander'
import { NewcutError } from '#ground/base/errors.ts'
import { suggestName } from '#ground/base/similar-names.ts'

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

/** The NewcutError for an error of commander. */
export function usageError(error: CommanderError, program: Command, args: readonly string[]): NewcutError {
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
    return new NewcutError('BAD_OPTION', `${typed}: no such command${suggestName(typed, names)}`, {
      hint: `commands: ${names.join(', ')}`,
    })
  }
  return new NewcutError('BAD_OPTION', message)
}

function unknownOptionError(typed: string, command: Command): NewcutError {
  const known = longFlags(command)
  return new NewcutError('BAD_OPTION', `${typed}: no such option${suggestionFor(typed, known)}`, {
    hint: `newcut ${command.name()} --help-all lists them all`,
  })
}

/** For `newcut --node URL`: the option may exist, but the command is missing. */
function missingCommandError(typed: string, program: Command): NewcutError {
  const name = typed.split('=')[0]
  const owner = program.commands.find((each) => longFlags(each).includes(name))
  if (owner === undefined) {
    const [mine] = program.commands
    return new NewcutError('BAD_OPTION', `${typed}: no such option${suggestionFor(typed, longFlags(mine))}`, {
      hint: `a command comes first, such as newcut ${mine.name()}; newcut --help lists them`,
    })
  }
  return new NewcutError('BAD_OPTION', `${typed}: a command comes first`, { hint: `newcut ${owner.name()} ${typed}` })
}

function suggestionFor(typed: string, known: readonly string[]): string {
  // Values may be attached: --url=http://..., -ohttp://...
  const name = typed.startsWith('--') ? typed.split('=')[0] : typed.slice(0, 2)
  const ours = ELSEWHERE[name]?.find((flag) => known.includes(flag.split(' ')[0]))
  return ours === undefined ? suggestName(name, known) : `; did you mean ${ours}?`
}

function longFlags(command: Command): string[] {
  return command.options.flatMap(({ long }) => (long ? [long] : []))
}
