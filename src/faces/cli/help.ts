/**
 * Help in 80 columns, and the screen of `newcut` alone. `--help` has examples first, then one line for each common
 * option. `--help-all` has every option with its details.
 */
import type { Command, Option } from 'commander'
import { type CommandFacts, type CommandGroup, type CommandRow, commandGroups } from './command-row.ts'
import { RowOption } from './flags.ts'
import { fullHelpOf, INDENT, optionGroups, section } from './options/row.ts'
import { wrapWords } from './text-width.ts'

const WIDTH = 80
/** The widest column of flags. The text of a longer flag begins on the next line. */
const MAX_COLUMN = 32

/** Headings of groups of commands. */
const commandHeadings: Readonly<Record<CommandRow['group'], string>> = {
  mining: 'Mining',
  rigs: 'Rigs and fleets',
  contracts: 'Contracts and networks',
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
    wrap(fullHelpOf(row.help)),
    ...(row.about === undefined ? [] : [wrap(row.about)]),
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
export function programHelp(program: Command, allRows: readonly CommandRow[], examples: readonly string[]): string {
  const rows = allRows.filter(({ listedIn }) => listedIn === undefined)
  const column = Math.max(...rows.map(({ name }) => name.length))
  const line = (name: string, help: string) => `${name.padEnd(column)}  ${help}`
  const groups = commandGroups.map((group) => {
    const lines = rows.filter((row) => row.group === group).map((row) => line(row.name, row.help))
    if (group === 'tools') lines.push(line('help', 'show the main options of a command; its --help-all has every one'))
    return lines.length === 0 ? '' : section(commandHeadings[group], lines)
  })
  const options = program.createHelp().visibleOptions(program)
  const parts = [
    'Usage: newcut COMMAND [options]',
    wrap(program.description()),
    section('Examples', examples),
    ...groups.filter((text) => text !== ''),
    section('Options', optionLines(options, false)),
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
  const lines = wrap(descriptionOf(option, isFull), WIDTH - margin.length).split('\n')
  const first = option.flags.length > column ? [option.flags, `${margin.slice(INDENT.length)}${lines[0]}`] : null
  const texts = first ?? [`${option.flags.padEnd(column)}  ${lines[0]}`]
  return [...texts, ...lines.slice(1).map((line) => margin.slice(INDENT.length) + line)].join(`\n${INDENT}`)
}

/** The text of a flag with its default: one line, or with `isFull` sentences with all details. */
export function descriptionOf(option: Option, isFull: boolean): string {
  if (!(option instanceof RowOption)) return isFull ? fullHelpOf(option.description) : option.description
  const text = isFull ? fullHelpOf(option.description, option.more) : option.description
  if (option.standard === null) return text
  return isFull ? `${text} Default: ${option.standard}.` : `${text} (default: ${option.standard})`
}

const wrap = (text: string, width = WIDTH) => wrapWords(text, width).join('\n')

/** The width of the names of groups on the first screen. */
const LABEL = 12

/** The screen of `newcut` without arguments: its purpose, the first step and the commands, in 80 x 24 characters. */
export function firstScreen(rows: readonly CommandRow[], version: string): string {
  const lines = [
    `newcut ${version} mines Chainweb networks, and brings one of its own for development.`,
    '',
    'Start here; no node, account or key is needed, and Ctrl-C ends it:',
    `${INDENT}newcut mine     mine a development network that runs in the same process`,
    `${INDENT}newcut devnet   run such a network alone: a node at http://127.0.0.1:1848`,
    '',
    'Commands:',
    ...commandGroups.flatMap((group) => nameLines(group, namesOf(group, rows))),
    '',
    'newcut help COMMAND shows its options and examples; newcut --help tells more.',
  ]
  return `${lines.join('\n')}\n`
}

/** The names of a group. `help` is a command of the program itself. */
const namesOf = (group: CommandGroup, rows: readonly CommandRow[]) => [
  ...rows.filter((row) => row.group === group && row.listedIn === undefined).map(({ name }) => name),
  ...(group === 'tools' ? ['help'] : []),
]

/** Names with commas after a label, in lines that fit. */
function nameLines(label: string, names: readonly string[]): string[] {
  const lines: string[] = []
  for (const [i, name] of names.entries()) {
    const word = i === names.length - 1 ? name : `${name}, `
    const last = lines.at(-1)
    if (last !== undefined && (last + word).trimEnd().length <= WIDTH) lines[lines.length - 1] = last + word
    else lines.push(`${INDENT}${(last === undefined ? label : '').padEnd(LABEL)}${word}`)
  }
  return lines.map((line) => line.trimEnd())
}
