/**
 * Help in 80 columns. `--help` has examples first, and one line for each option that most people need; `--help-all` has
 * every option with its details.
 */
import type { Command, Option } from 'commander'
import wrapAnsi from 'wrap-ansi'
import { type CommandFacts, type CommandRow, commandGroups } from './command-row.ts'
import { RowOption } from './flags.ts'
import { fullHelp, optionGroups } from './options/row.ts'

const WIDTH = 80
const INDENT = '  '
/** The widest column of flags. The text of a longer flag begins on the next line. */
const MAX_COLUMN = 32

/** Headings of groups of commands. */
const commandHeadings: Readonly<Record<CommandRow['group'], string>> = {
  mining: 'Mining',
  rigs: 'Rigs and pools',
  fleets: 'Fleets',
  networks: 'Networks',
  contracts: 'Coins and contracts',
  tools: 'Tools',
}

/** The order of groups of options. Flags without a row come before `--help`. */
const optionOrder: readonly string[] = [...Object.values(optionGroups).slice(0, -1), 'Options', optionGroups.help]

/** The text of `--help`, or with `isFull` of `--help-all`. */
export function commandHelp(command: Command, row: CommandFacts, isFull: boolean): string {
  const all = command.createHelp().visibleOptions(command)
  const shown = isFull ? all : all.filter((each) => !(each instanceof RowOption) || each.isCommon)
  const parts = [
    `Usage: newcut ${command.name()} ${command.usage()}`.trimEnd(),
    wrapped(fullHelp(row.help)),
    ...(row.about === undefined ? [] : [wrapped(row.about)]),
    section('Examples', row.examples),
    ...optionSections(shown, isFull),
    ...(row.notes === undefined ? [] : [row.notes]),
  ]
  if (shown.length < all.length) {
    parts.push(`newcut ${command.name()} --help-all explains all ${all.length} options.`)
  }
  return `${parts.join('\n\n')}\n`
}

/** The help of the program. */
export function programHelp(program: Command, rows: readonly CommandRow[], examples: readonly string[]): string {
  const column = Math.max(...rows.map(({ name }) => name.length))
  const line = (name: string, help: string) => `${name.padEnd(column)}  ${help}`
  const groups = commandGroups.map((group) => {
    const lines = rows.filter((row) => row.group === group).map((row) => line(row.name, row.help))
    if (group === 'tools') lines.push(line('help', 'show the help of a command'))
    return lines.length === 0 ? '' : section(commandHeadings[group], lines)
  })
  const options = program.createHelp().visibleOptions(program)
  const parts = [
    'Usage: newcut COMMAND [options]',
    wrapped(program.description()),
    section('Examples', examples),
    ...groups.filter((text) => text !== ''),
    section('Options', optionLines(options, false)),
    'newcut COMMAND --help shows its main options, and --help-all every one.',
  ]
  return `${parts.join('\n\n')}\n`
}

function optionSections(options: readonly Option[], isFull: boolean): string[] {
  const groups = new Map<string, string[]>()
  for (const [i, line] of optionLines(options, isFull).entries()) {
    const heading = options[i].helpGroupHeading ?? 'Options'
    groups.set(heading, [...(groups.get(heading) ?? []), line])
  }
  return [...groups]
    .toSorted(([a], [b]) => optionOrder.indexOf(a) - optionOrder.indexOf(b))
    .map(([heading, texts]) => section(heading, texts))
}

/** The text of each option, all with one column of flags. */
function optionLines(options: readonly Option[], isFull: boolean): string[] {
  const terms = options.map(({ flags }) => flags.length).filter((length) => length <= MAX_COLUMN)
  return options.map((each) => optionText(each, Math.max(0, ...terms), isFull))
}

function optionText(option: Option, column: number, isFull: boolean): string {
  const margin = ' '.repeat(INDENT.length + column + 2)
  const lines = wrapped(descriptionOf(option, isFull), WIDTH - margin.length).split('\n')
  const first = option.flags.length > column ? [option.flags, `${margin.slice(INDENT.length)}${lines[0]}`] : null
  const texts = first ?? [`${option.flags.padEnd(column)}  ${lines[0]}`]
  return [...texts, ...lines.slice(1).map((line) => margin.slice(INDENT.length) + line)].join(`\n${INDENT}`)
}

/** The text of a flag with its default: one line, or with `isFull` sentences with all details. */
export function descriptionOf(option: Option, isFull: boolean): string {
  if (!(option instanceof RowOption)) return isFull ? fullHelp(option.description) : option.description
  const text = isFull ? fullHelp(option.description, option.more) : option.description
  if (option.standard === null) return text
  return isFull ? `${text} Default: ${option.standard}.` : `${text} (default: ${option.standard})`
}

const wrapped = (text: string, width = WIDTH) => wrapAnsi(text, width, { hard: true })

/** A heading, and lines below it. */
export const section = (heading: string, lines: readonly string[]): string =>
  `${heading}:\n${lines.map((line) => INDENT + line).join('\n')}`
