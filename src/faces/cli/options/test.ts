/** Options of `newcut test`. */
import { someText, texts, type ValueKind, wholeNumber, yesNo } from '../values.ts'
import { forkOptions } from './fork.ts'
import { flagOnly, option, optional, outputFile, withNeed } from './row.ts'

/** Maximum per cent that `--tolerance` takes. */
const MAX_TOLERANCE = 10_000
const MAX_SEED = 2 ** 32 - 1
const MAX_RUNS = 1_000_000
/** Maximum threads that `--jobs` takes. */
const MAX_JOBS = 256

/** Least per cent of lines, and of branches. */
interface MinimumCoverage {
  readonly lines: number
  readonly branches: number
}

/** Per cent, with or without the sign: `5%`, `0.5`. */
function percent(most: number): ValueKind<number> {
  return {
    expected: `per cent from 0 to ${most}, such as 1%`,
    parse: (raw) => {
      const number = /^(\d{1,9}(?:\.\d{1,9})?)%?$/.exec(someText.parse(raw) ?? '')?.[1]
      return number !== undefined && Number(number) <= most ? Number(number) : undefined
    },
    format: (value) => `${value}%`,
  }
}

/** How often a switch is given. */
const count: ValueKind<number> = {
  isCount: true,
  expected: 'a switch that may be repeated',
  parse: (raw) => (typeof raw === 'number' ? raw : undefined),
  format: (value) => value,
}

/** `LINES` or `LINES,BRANCHES`. */
const leastCoverage: ValueKind<MinimumCoverage> = {
  expected: 'per cent of lines from 0 to 100, or of lines,branches, such as 80 or 80,70',
  parse: (raw) => {
    const parts = String(raw).split(',')
    const [lines, branches] = [parts[0], parts[1] ?? '0'].map(percent(100).parse)
    return parts.length > 2 || lines === undefined || branches === undefined ? undefined : { lines, branches }
  },
  format: ({ lines, branches }) => (branches === 0 ? lines : `${lines},${branches}`),
}

const ofCoverage = { needs: ['coverage'] } as const
const ofMutants = { needs: ['mutating'] } as const

const rows = {
  json: flagOnly(option(yesNo, false, null, 'print a JSON object for each file', { needs: ['noTap'] })),
  tap: flagOnly(option(yesNo, false, null, 'print results in the Test Anything Protocol')),
  junit: outputFile('write results to FILE as JUnit XML'),
  github: flagOnly(
    option(yesNo, false, null, 'print failures as annotations of GitHub workflows', {
      more: 'It is on where the variable GITHUB_ACTIONS is true.',
    }),
  ),
  verbose: flagOnly(
    option(count, 0, null, 'list all tests, with the steps of failed ones', {
      short: '-v',
      more: '-vv shows the steps of all tests, and -vvv whole values. Each step has its gas.',
    }),
  ),
  match: flagOnly(
    optional(someText, 'NAME', 'count only tests whose names contain NAME', {
      more:
        'NAME between slashes is a regular expression. All code still runs, because later code may need what earlier ' +
        'code did. Other tests count as skipped.',
    }),
  ),
  watch: flagOnly(
    option(yesNo, false, null, 'run again when a file changes', {
      more:
        'Only files that a change touches run again, and new ones in the given folders. In a terminal, Enter runs all, ' +
        'f those that failed, and q quits.',
    }),
  ),
  jobs: optional(wholeNumber(1, MAX_JOBS), 'N', 'files at once', {
    defaultText: 'one for each processor',
  }),
  seed: optional(wholeNumber(0, MAX_SEED), 'N', 'seed of property tests', {
    more: 'It decides on the values of for-all and for-any-order. A failed test names its seed.',
    defaultText: 'random',
  }),
  runs: option(wholeNumber(1, MAX_RUNS), 256, 'N', 'runs of each property test'),
  gas: flagOnly(
    option(yesNo, false, null, 'show the gas of each top-level form', {
      more: 'It is what the code costs on the public network, whether or not the file counts gas.',
    }),
  ),
  'gas-report': flagOnly(
    option(yesNo, false, null, 'show the gas of functions, natives and rows', {
      more: 'Deployed modules have their gas and size.',
    }),
  ),
  'gas-snapshot': flagOnly(
    option(yesNo, false, null, 'write the gas of each test to .gas-snapshot', {
      more: 'With --check, nothing is written.',
    }),
  ),
  check: flagOnly(
    option(yesNo, false, null, 'compare the gas of each test with .gas-snapshot', {
      more: 'If a test differs, the exit code is 1.',
    }),
  ),
  tolerance: option(percent(MAX_TOLERANCE), 0, 'N%', '--check: difference that is allowed', { needs: ['comparing'] }),
  coverage: option(yesNo, false, null, 'show which lines and branches the tests reached'),
  lcov: outputFile('write the coverage to FILE for lcov tools'),
  'coverage-min': optional(leastCoverage, 'N', 'least per cent of lines; N,M also of branches', {
    more: 'If the coverage is lower, the exit code is 1.',
  }),
  'coverage-exclude': optional(texts, 'PATH', 'file or folder that does not count; repeatable', ofCoverage),
  'coverage-all': option(yesNo, false, null, 'count dependencies too', {
    ...ofCoverage,
    more:
      'By default, only files below the working directory count, without those in folders named node_modules, deps, ' +
      'dependencies, lib, vendor or prelude.',
  }),
  mutate: flagOnly(
    option(yesNo, false, null, 'plant faults in contracts, and show those unnoticed', {
      more: 'A fault runs with the test files that reach it, until an expectation fails. Property tests have the seed 1.',
    }),
  ),
  'mutate-only': flagOnly(
    optional(texts, 'PATH', 'file or folder that gets faults; repeatable', {
      ...ofMutants,
      more: 'By default, the files that count for coverage get them.',
    }),
  ),
  'mutate-min': optional(percent(100), 'N', 'least per cent of faults that the tests notice', {
    ...ofMutants,
    more: 'If they notice fewer, the exit code is 1.',
  }),
  'mutate-report': outputFile('write all faults to FILE for viewers of mutation testing reports', ofMutants),
  'mutate-cache': optional(someText, 'FILE', 'file of results for the next run, or off', {
    ...ofMutants,
    more: 'A result holds until the contract, the test file or a file that it loads changes.',
    defaultText: "one for each folder in newcut/mutants of the user's cache folder",
  }),
}

/** Options that show something of tests without faults. */
const REPORTS: ReadonlySet<string> = new Set([
  ...['tap', 'junit', 'verbose', 'gas', 'gas-report', 'gas-snapshot', 'check', 'watch'],
  ...['coverage', 'lcov', 'coverage-min'],
])

const ownOptions = Object.fromEntries(
  Object.entries(rows).map(([name, row]) => [name, REPORTS.has(name) ? withNeed('noFaults', { row }).row : row]),
) as typeof rows

export const testOptions = {
  ...ownOptions,
  ...forkOptions,
  fork: { ...forkOptions.fork, group: 'fork' as const },
}

/** Details that `--help` leaves to `--help-all`. */
const DETAILS: ReadonlySet<string> = new Set(['coverage-all', 'mutate-only', 'mutate-report', 'mutate-cache'])
const common = (Object.keys(ownOptions) as (keyof typeof ownOptions)[]).filter((name) => !DETAILS.has(name))

/** The options that `newcut test --help` shows. */
export const commonTestOptions = [...common, 'fork'] as const
