/** Runs test files on texts in memory: without a fault, to measure them, and with one. */
import { dirname, resolve } from 'node:path'
import { operatingError } from '#ground/base/errors.ts'
import { ContractError, type TextPlace } from '../contracts/errors.ts'
import { languagesOf, type PropertyRuns, type StoppedAt, type TestFiles, TestRun } from '../contracts/repl/run.ts'
import { type FileCounts, TestRunObserver } from '../contracts/repl/run-observer.ts'
import { type RunBounds, RunEnded, type TestRunOptions } from '../contracts/repl/test-start.ts'
import { type CoveredFiles, codeIn, displayPath, isCovered } from '../testing/files.ts'
import { mutationErrors } from './errors.ts'

/** A failed expectation, or the early end of a file. */
export interface TestFault {
  /** `file:line:column`, relative to the working directory. */
  readonly at: string
  readonly name: string
  readonly what: string
}

/** A test file that ran without a fault. */
export interface MeasuredFile {
  readonly file: string
  readonly passed: number
  readonly fault: TestFault | null
  readonly milligas: number
  readonly work: number
  readonly coverage: readonly FileCounts[]
  /** File -> its text, for all files that the run read. */
  readonly texts: ReadonlyMap<string, string>
}

export interface TestChoices {
  /** How property tests draw values. */
  readonly chance: PropertyRuns
  /** Only failures of names that contain it count; null for all. */
  readonly match: string | null
}

/** The fork that a run begins on, or those that its file calls for. */
type ForkStart = Pick<TestRunOptions, 'chain' | 'fork' | 'refusal'>

/**
 * Runs a file to measure what it costs and reaches.
 * @throws MissingFork, MissingEntry
 */
export function measureTests(
  file: string,
  { chance, match }: TestChoices,
  covered: CoveredFiles,
  start: ForkStart,
): MeasuredFile {
  const texts = new Map<string, string>()
  const files = filesOf((path) => {
    const text = codeIn(path)
    texts.set(path, text)
    return text
  })
  let observer: TestRunObserver | null = null
  const run = new TestRun(files, resolve(file), (test) => languagesOf(test, chance), {
    ...start,
    observe: (observed) => {
      observer = new TestRunObserver(observed, {
        traces: 'none',
        hasGas: false,
        covers: (path) => isCovered(path, covered),
      })
      return observer
    },
  })
  const stopped = runToEnd(run)
  const failure = run.failures.find(({ name }) => counts(name, match)) ?? null
  const coverage = (observer as TestRunObserver | null)?.findings.coverage ?? []
  const fault = stopped ?? (failure === null ? null : testFaultOf(failure))
  return { file, passed: run.passed, fault, milligas: run.gas.charged, work: run.gas.work, coverage, texts }
}

/** How a mutant ended with one test file. */
export type MutantVerdict =
  /** No expectation failed. */
  | { readonly kind: 'survived' }
  | { readonly kind: 'killed'; readonly by: TestFault }
  /** The code ran many times as long as without the fault. */
  | { readonly kind: 'endless' }
  /** The changed module does not load. */
  | { readonly kind: 'invalid'; readonly why: string }

/** A mutant as its text. */
export interface MutantText {
  readonly path: string
  readonly text: string
  /** Place of the form that declares the module. */
  readonly module: TextPlace
}

/** All that a run with a changed text needs besides the text. */
interface MutantRun extends TestChoices {
  /** File -> its text without a fault. */
  readonly texts: ReadonlyMap<string, string>
  readonly bounds: RunBounds
  /** Names of expectations that fail after any change, and count for no fault. */
  readonly excluded: readonly string[]
  readonly start: ForkStart
}

/** Runs a file with a fault, until the first expectation fails. */
export function judgeMutant(file: string, mutant: MutantText, choices: MutantRun): MutantVerdict {
  const { match, excluded } = choices
  const run = runOf(file, mutant, choices, (name) => counts(name, match) && !excluded.includes(name))
  try {
    const stopped = runToEnd(run)
    if (stopped === null) return { kind: 'survived' }
    return isFirstLoad(run, mutant) ? { kind: 'invalid', why: stopped.what } : { kind: 'killed', by: stopped }
  } catch (error) {
    if (!(error instanceof RunEnded)) throw error
    return error.failure === null ? { kind: 'endless' } : { kind: 'killed', by: testFaultOf(error.failure) }
  }
}

/**
 * The failures of a file after a change that keeps what the contract does. Tests of hashes of modules fail on every change,
 * so they say nothing about faults.
 */
export function failuresAfterChange(file: string, changed: MutantText, choices: MutantRun): TestFault[] {
  const run = runOf(file, changed, choices, null)
  const stopped = runToEnd(run)
  return [...run.failures.map(testFaultOf), ...(stopped === null ? [] : [stopped])]
}

function runOf(
  file: string,
  { path, text }: MutantText,
  { texts, chance, bounds, start }: MutantRun,
  endsAt: ((name: string) => boolean) | null,
): TestRun {
  const files = filesOf((each) => (each === path ? text : (texts.get(each) ?? codeIn(each))))
  const languages = (test: TestRun) => languagesOf(test, chance)
  return new TestRun(files, resolve(file), languages, { ...start, endsAt, bounds })
}

/** Whether the run stopped at the module when it came to it for the first time. */
function isFirstLoad({ failedForm, formGas }: TestRun, { path, module: { line, column } }: MutantText): boolean {
  const isModule = (form: { file: string; place: TextPlace } | null) =>
    form !== null && form.file === path && form.place.line === line && form.place.column === column
  return isModule(failedForm) && formGas.filter(isModule).length === 1
}

/**
 * @returns the early end of the file, or null
 * @throws NewcutError BAD_INPUT if a fork is lost while faults are planted
 */
function runToEnd(run: TestRun): TestFault | null {
  const { file } = run
  try {
    run.runFile(file)
    return null
  } catch (error) {
    const name = 'the file runs to its end'
    const refusal = run.start.refusal?.(error) ?? null
    // No fault is to blame for a node that is gone.
    if (refusal !== null && run.start.bounds) throw operatingError(mutationErrors.lostFork, { why: refusal }, error)
    if (refusal !== null) return { at: displayPath(file), name, what: refusal }
    if (!(error instanceof ContractError)) throw error
    const at: Pick<StoppedAt, 'file' | 'place'> = { file: error.file ?? file, place: error.place }
    return { at: locationOf(at), name, what: error.message }
  }
}

function testFaultOf({ name, what, ...at }: TestRun['failures'][number]): TestFault {
  return { at: locationOf(at), name, what }
}

function locationOf({ file, place }: Pick<StoppedAt, 'file' | 'place'>): string {
  return place === null ? displayPath(file) : `${displayPath(file)}:${place.line + 1}:${place.column + 1}`
}

const counts = (name: string, match: string | null) => match === null || name.includes(match)

const filesOf = (read: (path: string) => string): TestFiles => ({
  resolve: (from, path) => resolve(dirname(from), path),
  read,
  displayName: displayPath,
})
