/** Writes the manual page docs/newcut.1 from the commands of the program. */
import type { Command, Option } from 'commander'
import { benchSuites } from '../src/cli/bench-suites.ts'
import { programExamples } from '../src/cli/program.ts'
import { commandRows } from '../src/commands/commands.ts'
import { exitCodes } from '../src/core/exit-codes.ts'

const INTRODUCTION = [
  'newcut mines Chainweb networks on CPUs and GPUs, and brings a development network of its own.',
  'An option of a command is a flag, an environment variable or a line of a YAML file.',
  'A flag wins over a variable, and a variable wins over the file.',
  'The variable of --block-delay is NEWCUT_BLOCK_DELAY, and its key in the file is block-delay.',
]

/** The date when the texts of this file were last reviewed. */
const DATE = '2026-11-22'

const FILES = [
  ['~/.local/state/newcut', 'the journal of solutions, unless --state or XDG_STATE_HOME names another folder'],
  ['~/.cache/newcut', 'compiled kernels and what was measured of GPUs'],
] as const

/** Defaults that depend on the machine. */
const OF_THE_MACHINE = /\(default: \d+\)$/

/** The whole page, in man macros. */
export function manualPage(program: Command): string {
  const lines = [
    '.\\" Written by npm run docs:options from src/cli. Do not edit.',
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
    '.SH COMMANDS',
    ...program.commands.flatMap(commandLines),
    '.SH "EXIT STATUS"',
    text('An error is one line on standard error; with --log json, a record on standard output.'),
    ...Object.entries(exitCodes).flatMap(([code, cause]) => tagged(code, cause)),
    '.SH ENVIRONMENT',
    ...tagged('NEWCUT_CONFIG', 'YAML file with options'),
    ...tagged('NEWCUT_OPTION', 'an option of any command, for example NEWCUT_NODE'),
    ...tagged('NO_COLOR', 'no colours'),
    '.SH FILES',
    ...FILES.flatMap(([path, what]) => tagged(path, what)),
    '.SH EXAMPLES',
    ...exampleLines(programExamples),
    '.SH "SEE ALSO"',
    'docs/OPTIONS.md, docs/MINING.md and docs/DEVNET.md in the package.',
  ]
  return `${lines.join('\n')}\n`
}

function commandLines(command: Command): string[] {
  const name = command.name()
  const usage = command.usage().replace('[options] ', '').replace('[options]', '')
  return [
    `.SS "${text(`newcut ${name} ${usage}`.trim())}"`,
    text(sentence(command.description())),
    ...optionsOf(command),
    ...(name === 'bench'
      ? ['.PP', 'Suites:', ...Object.entries(benchSuites).flatMap(([each, what]) => tagged(each, what))]
      : []),
    '.PP',
    'Examples:',
    ...exampleLines(commandRows.find((row) => row.name === name)?.examples ?? []),
  ]
}

const optionsOf = (command: Command): string[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => command.parent === null || long !== '--help')
    .flatMap((option) => tagged(option.flags, descriptionOf(option)))

const descriptionOf = ({ long, description }: Option): string =>
  long === '--threads' ? description.replace(OF_THE_MACHINE, '(default: number of CPU cores)') : description

const tagged = (tag: string, what: string): string[] => ['.TP', `.B "${text(tag)}"`, text(what)]

const exampleLines = (lines: readonly string[]): string[] => ['.nf', '.RS 4', ...lines.map(text), '.RE', '.fi']

const sentence = (what: string): string => `${what[0].toUpperCase()}${what.slice(1)}.`

/** Escapes plain text, so that backslashes, dashes, quotes and a leading dot are no macros. */
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
