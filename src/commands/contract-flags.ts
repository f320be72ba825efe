/** The flags of `newcut contract`. */
import { randomInt } from 'node:crypto'
import { Option } from 'commander'
import { NewcutError } from '../base/errors.ts'
import type { Flags } from '../cli/command-row.ts'
import { once, RowOption } from '../cli/flags.ts'
import type { ContractOptions } from './contract.ts'

/** Most per cent that `--tolerance` takes. */
const MAX_TOLERANCE = 10_000
const MAX_SEED = 2 ** 32 - 1
const RUNS = 256
const MAX_RUNS = 1_000_000
/** Most threads that `--jobs` takes. */
const MAX_JOBS = 256

/** Values of a repeatable flag, one a line. */
const repeated = (value: string, before?: string) => (before === undefined ? value : `${before}\n${value}`)

export const contractFlags = (): readonly Option[] => [
  new Option('--json', 'print a JSON object for each file'),
  new RowOption('--tap', { help: 'print results in the Test Anything Protocol' }),
  new RowOption('--junit <FILE>', { help: 'write results to FILE as JUnit XML' }).argParser(once('junit')),
  new RowOption('-v, --verbose', {
    help: 'show the steps of failed tests; -vv: of all',
    more: 'Each step has its gas. A test is a form at the top level of a file.',
  }).argParser((_: unknown, before: string | undefined) => `${before ?? ''}v`),
  new RowOption('--match <NAME>', {
    help: 'count only tests whose names contain NAME',
    more: 'All code still runs, because later code may need what earlier code did.',
  }).argParser(once('match')),
  new RowOption('--watch', { help: 'run again when a file changes' }),
  new RowOption('--jobs <N>', {
    help: 'number of files that run at once',
    more: 'Default: one for each processor.',
  }).argParser(once('jobs')),
  new RowOption('--seed <N>', {
    help: 'seed of property tests',
    more: 'Default: random. It decides on the values of for-all and for-any-order. A failed test names its seed.',
  }).argParser(once('seed')),
  new RowOption('--runs <N>', { help: 'runs of each property test', standard: '256' }).argParser(once('runs')),
  new RowOption('--gas', {
    help: 'show the gas of each top-level form',
    more: 'It is what the code costs on the public network, whether or not the file counts gas.',
  }),
  new RowOption('--gas-report', {
    help: 'show the gas of functions, natives and rows',
    more: 'Deployed modules have their gas and size.',
  }),
  new RowOption('--gas-snapshot', {
    help: 'write the gas of each test to .gas-snapshot',
    more: 'With --check, nothing is written.',
  }),
  new RowOption('--check', {
    help: 'compare the gas of each test with .gas-snapshot',
    more: 'If a test differs, the exit code is 1.',
  }),
  new RowOption('--tolerance <N%>', {
    help: '--check: difference that is allowed',
    standard: '0%',
  }).argParser(once('tolerance')),
  new RowOption('--coverage', { help: 'show which lines and branches the tests reached' }),
  new RowOption('--lcov <FILE>', { help: 'write the coverage to FILE for lcov tools' }).argParser(once('lcov')),
  new RowOption('--coverage-min <N>', {
    help: 'least per cent of lines; N,M also of branches',
    more: 'If the coverage is lower, the exit code is 1.',
  }).argParser(once('coverage-min')),
  new RowOption(
    '--coverage-exclude <PATH>',
    { help: 'file or folder that does not count; repeatable' },
    { isRepeatable: true },
  ).argParser(repeated),
  new RowOption('--coverage-all', {
    help: 'count dependencies too',
    more:
      'By default, only files below the working directory count, without those in folders named node_modules, deps, ' +
      'dependencies, lib, vendor or prelude.',
  }),
]

/** Throws NewcutError BAD_OPTION for values that make no sense, and for flags without an effect. */
export function contractOptionsOf(flags: Flags): Omit<ContractOptions, 'files' | 'fork'> {
  const { match, junit, lcov, coverageExclude } = flags as Readonly<Record<string, string | undefined>>
  const hasCoverage = [flags.coverage, lcov, flags.coverageMin].some((flag) => flag !== undefined)
  for (const name of ['coverageExclude', 'coverageAll'] as const) {
    if (flags[name] !== undefined && !hasCoverage) throw without(name, '--coverage')
  }
  if (flags.tolerance !== undefined && flags.check === undefined) throw without('tolerance', '--check')
  if (flags.json !== undefined && flags.tap !== undefined) {
    throw new NewcutError('BAD_OPTION', '--json and --tap both decide what is printed', { hint: 'give one of them' })
  }
  const coverage = {
    dependencies: flags.coverageAll !== undefined,
    excluded: coverageExclude?.split('\n') ?? [],
  }
  return {
    json: flags.json !== undefined,
    tap: flags.tap !== undefined,
    gas: flags.gas !== undefined,
    verbosity: typeof flags.verbose === 'string' ? flags.verbose.length : 0,
    ...{ match, junit, lcov },
    jobs: flags.jobs === undefined ? undefined : numberIn('--jobs', flags.jobs, 1, MAX_JOBS),
    watch: flags.watch !== undefined,
    chance: {
      seed: flags.seed === undefined ? randomInt(MAX_SEED) : numberIn('--seed', flags.seed, 0, MAX_SEED),
      runs: flags.runs === undefined ? RUNS : numberIn('--runs', flags.runs, 1, MAX_RUNS),
    },
    gasReport: flags.gasReport !== undefined,
    gasSnapshot: flags.gasSnapshot !== undefined,
    check: flags.check !== undefined,
    tolerance: flags.tolerance === undefined ? 0 : percentIn('--tolerance', flags.tolerance, MAX_TOLERANCE),
    coverage: hasCoverage ? coverage : null,
    coverageMin: flags.coverageMin === undefined ? null : leastIn(flags.coverageMin),
  }
}

function without(attribute: string, needed: string): NewcutError {
  const flag = attribute.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return new NewcutError('BAD_OPTION', `--${flag} has no effect without ${needed}`, { hint: `add ${needed}` })
}

function percentIn(flag: string, text: string | true, most = 100): number {
  const number = /^(\d+(?:\.\d+)?)%?$/.exec(String(text))?.[1]
  if (number !== undefined && Number(number) <= most) return Number(number)
  throw new NewcutError('BAD_OPTION', `${flag} ${text}: expected per cent from 0 to ${most}, such as 1%`)
}

/** Reads `LINES` or `LINES,BRANCHES`. */
function leastIn(text: string | true): { readonly lines: number; readonly branches: number } {
  const [lines, branches = '0', ...more] = String(text).split(',')
  if (more.length > 0) {
    throw new NewcutError('BAD_OPTION', `--coverage-min ${text}: expected per cent of lines, or of lines,branches`)
  }
  return { lines: percentIn('--coverage-min', lines), branches: percentIn('--coverage-min', branches) }
}

function numberIn(flag: string, text: string | true, least: number, most: number): number {
  const number = /^\d{1,10}$/.test(String(text)) ? Number(text) : Number.NaN
  if (number >= least && number <= most) return number
  throw new NewcutError('BAD_OPTION', `${flag} ${text}: expected a number from ${least} to ${most}`)
}
