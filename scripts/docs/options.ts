/** Writes docs/OPTIONS.md from the option tables. */

import { commandRows } from '../../src/commands/commands.ts'
import { commandGroups } from '../../src/faces/cli/command-row.ts'
import {
  defaultText,
  flagHelpOf,
  fullHelpOf,
  negatedName,
  type OptionGroup,
  type OptionSpec,
  optionGroups,
} from '../../src/faces/cli/options/row.ts'

type Table = Readonly<Record<string, OptionSpec<unknown>>>

const introduction = `# Options

<!-- Written by npm run docs:tables from src/faces/cli/options/. Do not edit. -->

You can set an option as a flag, as an environment variable, or as a line of a YAML file (\`--config FILE\` or
\`NEWCUT_CONFIG=FILE\`). A flag wins over a variable, and a variable wins over the file.

| place | \`--block-delay\` | the switch \`--no-pow\` |
|---|---|---|
| flag | \`--block-delay 10s\` | \`--no-pow\` |
| environment | \`NEWCUT_BLOCK_DELAY=10s\` | \`NEWCUT_NO_POW=true\` |
| file | \`block-delay: 10s\` | \`pow: false\` |

In the tables, an option without a value takes any text, and one without a default is not set. Switches are off. Options
for one call of a command are flags only. \`newcut config COMMAND\` prints the effective options of a command as a
YAML file, with the origin of each. \`newcut COMMAND --help\` shows the main options of a command, and \`--help-all\` every
one.
`

/** A group of options, or null for options without one. */
type Group = OptionGroup | null

interface Row {
  readonly flag: string
  readonly group: Group
  /** The line of its table. */
  readonly line: string
}

/** Marks an option without a variable and without a key in files. */
const FLAG_ONLY = ' Flag only.'

/** A command with this many options of its own shows them below the headings of their groups. */
const MANY_OPTIONS = 8

/** The whole document. */
export function optionsDocument(): string {
  const commands = commandGroups
    .flatMap((group) => commandRows.filter((row) => row.group === group))
    .map((row) => ({ row, rows: row.isAboutOptions ? [] : rowsOf(row.options as Table) }))
  const shared = sharedRows(commands.map(({ rows }) => rows))
  const sections = commands.map(({ row, rows }) => {
    return `## newcut ${row.name}\n\n${row.isAboutOptions ? ABOUT_OPTIONS : commandText(rows, shared)}`
  })
  return [introduction, `${SHARED}\n${tables(shared, true)}`, ...sections].join('\n')
}

const ABOUT_OPTIONS = 'The options of the command that its argument names: by default those of `newcut mine`.\n'

const SHARED = `## Options of several commands

Each command links to the groups that it has. Flags after a link are those that it has of the group.
`

const rowsOf = (table: Table): Row[] =>
  Object.entries(table).map(([name, spec]) => ({
    flag: `--${negatedName(name, spec) ?? name}`,
    group: spec.group ?? null,
    line: rowText(name, spec),
  }))

/** Rows that are the same in two commands or more, each once. */
function sharedRows(commands: readonly (readonly Row[])[]): Row[] {
  const counts = new Map<string, { readonly row: Row; count: number }>()
  for (const row of commands.flat()) {
    const key = `${row.group} ${row.line}`
    counts.set(key, { row, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return [...counts.values()].flatMap(({ row, count }) => (count > 1 ? [row] : []))
}

/** Tables of its own options, and the names of those that it shares. */
function commandText(rows: readonly Row[], shared: readonly Row[]): string {
  if (rows.length === 0) return 'No options.\n'
  const isShared = ({ group, line }: Row) => shared.some((each) => each.group === group && each.line === line)
  const own = rows.filter((row) => !isShared(row))
  const links = inGroups(rows.filter(isShared)).map(([group, members]) => {
    const link = `[${headingOf(group)}](#${anchorOf(headingOf(group))})`
    const isWhole = members.length === shared.filter((row) => row.group === group).length
    return isWhole ? link : `${link} ${flagsText(members)}`
  })
  const sentence = links.length === 0 ? '' : `Shared: ${links.join('; ')}.\n`
  const ownTables = own.length === 0 ? '' : tables(own, own.length >= MANY_OPTIONS)
  return [sentence, ownTables].filter((text) => text !== '').join('\n')
}

const flagsText = (members: readonly Row[]) => members.map(({ flag }) => code(flag)).join(', ')

/** One table, or one for each group below its heading. */
function tables(rows: readonly Row[], hasHeadings: boolean): string {
  if (!hasHeadings) return table(rows)
  return inGroups(rows)
    .map(([group, members]) => `### ${headingOf(group)}\n\n${table(members)}`)
    .join('\n')
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(({ line }) => line).join('\n')
  return `| flag | value | default | meaning |\n|---|---|---|---|\n${lines}\n`
}

/** Groups that have rows, in the order of the help. */
function inGroups(rows: readonly Row[]): [Group, Row[]][] {
  const order: Group[] = [...(Object.keys(optionGroups) as OptionGroup[]), null]
  return order.flatMap((group): [Group, Row[]][] => {
    const members = rows.filter((row) => row.group === group)
    return members.length === 0 ? [] : [[group, members]]
  })
}

const headingOf = (group: Group) => (group === null ? 'Other options' : optionGroups[group])

/** The anchor of a heading, as GitHub makes it. */
const anchorOf = (heading: string) => heading.toLowerCase().replaceAll(' ', '-')

function rowText(name: string, spec: OptionSpec<unknown>): string {
  const flag = negatedName(name, spec) ?? name
  const { help, more } = flagHelpOf(spec)
  const cells = [
    code(`${spec.short === undefined ? '' : `${spec.short}, `}--${flag} ${spec.placeholder ?? ''}`.trimEnd()),
    spec.placeholder === null ? 'switch' : valueText(spec.kind.expected),
    defaultOf(spec),
    `${fullHelpOf(help, more)}${spec.isFlagOnly ? FLAG_ONLY : ''}`,
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** A value that may be any text needs no words. */
const valueText = (expected: string) => (expected === 'some text' ? '' : expected.replace(/^a whole number from /, ''))

const code = (text: string) => `\`${text}\``

function defaultOf(spec: OptionSpec<unknown>): string {
  if (spec.placeholder === null) return ''
  if (spec.defaultText !== undefined) return spec.defaultText
  const text = defaultText(spec)
  return text === null ? '' : code(text)
}
