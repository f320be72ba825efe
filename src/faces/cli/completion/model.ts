/** The completions of the program: its commands, their flags and their arguments. */
import type { Argument, Command, Option } from 'commander'
import { RowOption } from '../flags.ts'

/** The completions of one place: the value of a flag, or an argument. */
export interface ValueCompletion {
  /** Its name in the help, such as FILE. */
  readonly name: string
  /** Words to offer. */
  readonly values: readonly string[]
  /** File names to offer as well: all, only folders, or null for none. */
  readonly paths: 'files' | 'folders' | null
}

export interface Flag {
  /** Its long name, and its short one if it has one, with their dashes. */
  readonly names: readonly string[]
  readonly help: string
  /** Its value, or null for a switch. */
  readonly value: ValueCompletion | null
  readonly isRepeatable: boolean
}

export interface CommandCompletion {
  /** One word, or two: `rigs check` is completed behind `rigs`. */
  readonly name: string
  readonly help: string
  readonly flags: readonly Flag[]
  readonly arguments: readonly ValueCompletion[]
  /** Whether the last argument may be repeated. */
  readonly isVariadic: boolean
}

export interface CompletionModel {
  readonly name: string
  readonly flags: readonly Flag[]
  readonly commands: readonly CommandCompletion[]
}

/** Placeholders and argument names that stand for paths. */
const PATHS: Readonly<Record<string, ValueCompletion['paths']>> = {
  FILE: 'files',
  file: 'files',
  input: 'files',
  code: 'files',
  DIR: 'folders',
}

/** Words that need no quotes in shells. */
const PLAIN_WORD = /^[\w:./-]+$/

/** @throws Error for a word that shells would need quotes for */
export function completionModelOf(program: Command): CompletionModel {
  const commands = addFirstWords(program.commands.map(commandCompletionOf))
  const help: CommandCompletion = {
    name: 'help',
    help: 'show the help of a command',
    flags: [],
    arguments: [
      placeOf(
        'command',
        commands.filter((each) => secondWord(each) === null).map(({ name }) => name),
      ),
    ],
    isVariadic: false,
  }
  return { name: program.name(), flags: flagsOf(program), commands: [...commands, help] }
}

/** @returns the second word of a command's name, or null if the name has one word. */
export const secondWord = ({ name }: CommandCompletion): string | null => name.split(' ')[1] ?? null

/** @returns the commands of two words that begin with this one. */
export const commandsStartingWith = (first: string, commands: readonly CommandCompletion[]): CommandCompletion[] =>
  commands.filter(({ name }) => name.startsWith(`${first} `))

/** Offers the second words of names after the first word, which need not be a command itself. */
function addFirstWords(commands: readonly CommandCompletion[]): CommandCompletion[] {
  const firsts = new Set(commands.filter((each) => secondWord(each) !== null).map(({ name }) => name.split(' ')[0]))
  const all = [...commands]
  for (const first of firsts) {
    const words = commandsStartingWith(first, commands).flatMap((each) => secondWord(each) ?? [])
    const index = all.findIndex(({ name }) => name === first)
    if (index < 0) {
      const places = [placeOf('command', words)]
      all.push({ name: first, help: `has ${words.join(', ')}`, flags: [], arguments: places, isVariadic: false })
      continue
    }
    const [place = placeOf('command', []), ...rest] = all[index].arguments
    all[index] = { ...all[index], arguments: [{ ...place, values: [...place.values, ...words] }, ...rest] }
  }
  return all
}

function commandCompletionOf(command: Command): CommandCompletion {
  const places = command.registeredArguments
  return {
    name: command.name(),
    help: command.description(),
    flags: flagsOf(command),
    arguments: places.map((each: Argument) => placeOf(each.name(), each.argChoices ?? [])),
    isVariadic: places.at(-1)?.variadic === true,
  }
}

const flagsOf = (command: Command): Flag[] => command.createHelp().visibleOptions(command).map(flagOf)

function flagOf(option: Option): Flag {
  const placeholder = /<([^>.]+)(?:\.\.\.)?>/.exec(option.flags)?.[1]
  return {
    names: [option.long, option.short].filter((name) => name !== undefined && name !== null),
    help: option.description,
    value: placeholder === undefined ? null : placeOf(placeholder, option.argChoices ?? []),
    isRepeatable: option instanceof RowOption && option.isRepeatable,
  }
}

function placeOf(name: string, values: readonly string[]): ValueCompletion {
  const wrong = values.find((value) => !PLAIN_WORD.test(value))
  if (wrong !== undefined) throw new Error(`${name}: shells cannot complete ${wrong}`)
  return { name, values, paths: PATHS[name] ?? null }
}
