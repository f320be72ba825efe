/** The screen of `newcut` without arguments: its purpose, the first step and the commands, in 80 x 24 characters. */
import { type CommandGroup, type CommandRow, commandGroups } from './command-row.ts'

const WIDTH = 80
const INDENT = '  '
const LABEL = 12

/** The whole screen, with a line break at its end. */
export function firstScreen(rows: readonly CommandRow[], version: string): string {
  const lines = [
    `newcut ${version} mines Chainweb networks, and brings one of its own for development.`,
    '',
    'Start here; no node, account or key is needed, and Ctrl-C ends it:',
    `${INDENT}newcut mine     mine a development network that runs in the same process`,
    `${INDENT}newcut devnet   run such a network alone: a node at http://127.0.0.1:1848`,
    '',
    'Commands:',
    ...commandGroups.flatMap((group) => wrapped(group, namesOf(group, rows))),
    '',
    'newcut help COMMAND shows its options and examples; newcut --help tells more.',
  ]
  return `${lines.join('\n')}\n`
}

/** The names of a group. `help` is a command of the program itself. */
const namesOf = (group: CommandGroup, rows: readonly CommandRow[]) => [
  ...rows.filter((row) => row.group === group).map(({ name }) => name),
  ...(group === 'tools' ? ['help'] : []),
]

/** Names with commas after a label, in lines that fit. */
function wrapped(label: string, names: readonly string[]): string[] {
  const lines: string[] = []
  for (const [i, name] of names.entries()) {
    const word = i === names.length - 1 ? name : `${name}, `
    const last = lines.at(-1)
    if (last !== undefined && (last + word).trimEnd().length <= WIDTH) lines[lines.length - 1] = last + word
    else lines.push(`${INDENT}${(last === undefined ? label : '').padEnd(LABEL)}${word}`)
  }
  return lines.map((line) => line.trimEnd())
}
