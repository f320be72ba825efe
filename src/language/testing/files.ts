/** Runs one test file from the disk. The result is data, so that a thread can send it. */
import { dirname, relative, resolve, sep } from 'node:path'
import { fileProblem } from '#ground/base/errors.ts'
import { MAX_CODE_BYTES, readUserText } from '#ground/base/user-file.ts'
import { ContractError } from '../contracts/errors.ts'
import { languagesOf, type PropertyRuns, runTests, type TestFiles, type TestReport } from '../contracts/repl/run.ts'
import { type ObserverOptions, type RunFindings, TestRunObserver } from '../contracts/repl/run-observer.ts'
import { MissingFork, type TestRunOptions } from '../contracts/repl/test-start.ts'
import { systemTextAt } from '../contracts/system/system.ts'

/** Folders of contracts that others wrote. */
export const DEPENDENCIES: ReadonlySet<string> = new Set([
  'node_modules',
  'deps',
  'dependencies',
  'lib',
  'vendor',
  'prelude',
])

/** Which files count for coverage. */
export interface CoveredFiles {
  /** Whether dependencies count too. */
  readonly dependencies: boolean
  /** Files and folders that do not count. */
  readonly excluded: readonly string[]
}

export interface FileRequests extends Omit<ObserverOptions, 'covers'> {
  /** Null measures no coverage. */
  readonly coverage: CoveredFiles | null
  /** How property tests draw values. */
  readonly runs: PropertyRuns
}

export interface FileOutcome {
  /** As the user named it. */
  readonly file: string
  readonly report: TestReport
  readonly findings: RunFindings
  /** All files that the run read, for --watch. */
  readonly read: readonly string[]
  /** How long it ran, in milliseconds. */
  readonly ms: number
}

/** Name of a file, relative to the working directory. */
export function displayPath(file: string): string {
  return relative(process.cwd(), file) || '.'
}

/**
 * Runs a test file, and answers the questions about it.
 * @param start what the run begins with; default: an empty chain
 * @throws MissingFork
 * @throws MissingEntry if a fork lacks an entry
 */
export function runTestFile(
  file: string,
  { coverage, runs: chance, ...questions }: FileRequests,
  start: Omit<TestRunOptions, 'observe'> = {},
): FileOutcome {
  const startedMs = performance.now()
  const read = new Set<string>()
  const files: TestFiles = {
    resolve: (from, path) => resolve(dirname(from), path),
    read: (path) => {
      read.add(path)
      return codeIn(path)
    },
    displayName: displayPath,
  }
  const isPlain = questions.traces === 'none' && !questions.hasGas && coverage === null
  let follower: TestRunObserver | null = null
  const covers = coverage === null ? null : (path: string) => isCovered(path, coverage)
  const report = runTests(resolve(file), files, (test) => languagesOf(test, chance), {
    nowMs: () => performance.now(),
    ...start,
    observe: isPlain
      ? null
      : (run) => {
          follower = new TestRunObserver(run, { ...questions, covers })
          return follower
        },
  })
  const findings = (follower as TestRunObserver | null)?.findings ?? { traces: [], gasCalls: [], coverage: [] }
  return { file, report, findings, read: [...read], ms: performance.now() - startedMs }
}

/** Runs a test file that may ask for a fork. @returns null if it does */
export function runUnforked(file: string, questions: FileRequests): FileOutcome | null {
  const fork: TestRunOptions['fork'] = (request) => {
    throw new MissingFork(request)
  }
  try {
    return runTestFile(file, questions, { fork })
  } catch (error) {
    if (error instanceof MissingFork) return null
    throw error
  }
}

/** The text of a file that a test loads. @throws ContractError */
export function codeIn(file: string): string {
  try {
    return readUserText(file, MAX_CODE_BYTES)
  } catch (error) {
    const own = (error as NodeJS.ErrnoException).code === 'ENOENT' ? systemTextAt(file) : null
    if (own !== null) return own
    throw new ContractError('EvalError', `cannot read ${displayPath(file)}: ${fileProblem(error)}`)
  }
}

/** Whether the modules of a file count: those below the working directory, without dependencies. */
export function isCovered(file: string, { dependencies, excluded }: CoveredFiles): boolean {
  const isWithin = (path: string) => file === path || file.startsWith(path + sep)
  if (excluded.some((each) => isWithin(resolve(each)))) return false
  if (dependencies) return true
  const folders = displayPath(file).split(sep).slice(0, -1)
  return folders[0] !== '..' && !folders.some((folder) => DEPENDENCIES.has(folder))
}
