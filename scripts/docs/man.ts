/** The manual page, made from the commands of the program. `npm run package` writes it. */
import type { Command } from 'commander'
import { commandRows } from '../../src/commands/commands.ts'
import { benchSuites } from '../../src/faces/cli/bench-suites.ts'
import { descriptionOf } from '../../src/faces/cli/help.ts'
import { optionGroups } from '../../src/faces/cli/options/row.ts'
import { programExamples } from '../../src/faces/cli/program.ts'
import { exitCodes } from '../../src/ground/base/exit-codes.ts'

const INTRODUCTION = [
  'newcut mines Chainweb networks with CPUs, GPUs and stratum rigs, and runs a development network of its own.',
  'You can set an option as a flag, as an environment variable, or as a line of a YAML file.',
  'A flag wins over a variable, and a variable wins over the file.',
  'The variable of --block-delay is NEWCUT_BLOCK_DELAY, and its key in the file is block-delay.',
]

/** The date when the texts of this file were last reviewed. */
const DATE = '2026-11-22'

const FILES = [
  ['~/.local/state/newcut', 'The journal of solutions, unless --state or XDG_STATE_HOME names another folder.'],
  ['~/.cache/newcut', 'Compiled kernels, and measurements of GPUs.'],
] as const

/** The whole page, in man macros. */
export function manualPage(program: Command): string {
  const lines = [
    '.\\" Made by npm run package from the commands.',
    `.TH NEWCUT 1 ${DATE} newcut "newcut manual"`,
    '.SH NAME',
    'newcut \\- mine Chainweb networks, and run one for development',
    '.SH SYNOPSIS',
    '.B newcut',
    '.I command',
    '.RI [ options ]',
    '.SH DESCRIPTION',
    ...INTRODUCTION.map(text),
    '.SH OPTIONS',
    ...optionsOf(program),
    ...tagged('--help-all', 'After a command: show every option with its details.'),
    '.SH COMMANDS',
    ...program.commands.flatMap(commandLines),
    '.SH "EXIT STATUS"',
    text('An error is one line on stderr. With --log json, it is a record on stdout.'),
    ...Object.entries(exitCodes).flatMap(([code, cause]) => tagged(code, cause)),
    '.SH ENVIRONMENT',
    ...tagged('NEWCUT_CONFIG', 'A YAML file with options.'),
    ...tagged('NEWCUT_OPTION', 'An option of any command, for example NEWCUT_NODE.'),
    ...tagged('NO_COLOR', 'Turns colours off.'),
    '.SH FILES',
    ...FILES.flatMap(([path, what]) => tagged(path, what)),
    '.SH EXAMPLES',
    ...exampleLines(programExamples),
    '.SH "SEE ALSO"',
    'docs/OPTIONS.md, docs/SOLO.md and docs/DEVNET.md in the package.',
  ]
  return `${lines.join('\n')}\n`
}

function commandLines(command: Command): string[] {
  const name = command.name()
  const { about, examples = [] } = commandRows.find((row) => row.name === name) ?? {}
  const usage = command.usage().replace('[options] ', '').replace('[options]', '')
  return [
    `.SS "${text(`newcut ${name} ${usage}`.trim())}"`,
    text(sentence(command.description())),
    ...(about === undefined ? [] : [text(about)]),
    ...optionsOf(command),
    ...(name === 'bench'
      ? ['.PP', 'Suites:', ...Object.entries(benchSuites).flatMap(([each, what]) => tagged(each, what))]
      : []),
    '.PP',
    'Examples:',
    ...exampleLines(examples),
  ]
}

/** Options below the headings of their groups. `--help` and `--help-all` stand once, at the top of the page. */
function optionsOf(command: Command): string[] {
  const options = command.createHelp().visibleOptions(command)
  const own = options.filter(({ long }) => command.parent === null || !long?.startsWith('--help'))
  const order = ['', ...Object.values(optionGroups)]
  return order.flatMap((heading) => {
    const members = own.filter(({ helpGroupHeading }) => (helpGroupHeading ?? '') === heading)
    const isShown = command.parent !== null && heading !== '' && members.length > 0
    return [
      ...(isShown ? ['.PP', text(`${heading}:`)] : []),
      ...members.flatMap((option) => tagged(option.flags, descriptionOf(option, true))),
    ]
  })
}

const tagged = (tag: string, what: string): string[] => ['.TP', `.B "${text(tag)}"`, text(what)]

const exampleLines = (lines: readonly string[]): string[] => ['.nf', '.RS 4', ...lines.map(text), '.RE', '.fi']

const sentence = (what: string): string => `${what[0].toUpperCase()}${what.slice(1)}.`

/** Escapes plain text, so that backslashes, dashes, quotes and a leading dot are not read as macros. */
function text(plain: string): string {
  const characters: Readonly<Record<string, string>> = {
    '\\': '\\e',
    '-': '\\-',
    "'": '\\(aq',
    '"': '\\(dq',
    '~': '\\(ti',
    '^': '\\(ha',
    '`': '\\(ga',
  }
  const escaped = plain.replace(/[\\\-'"~^`]/g, (character) => characters[character])
  return /^[.]/.test(escaped) ? `\\&${escaped}` : escaped
}
