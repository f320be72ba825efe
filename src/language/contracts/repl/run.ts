/** Runs `.repl` test files. */
import { ContractError, type TextPlace } from '../errors.ts'
import { language, languageWith } from '../language.ts'
import type { Language } from '../machine/expand/expander.ts'
import { nativeOfTests } from '../machine/expand/load-errors.ts'
import { expectations } from './expectations.ts'
import { testNatives } from './natives.ts'
import type { PropertyRuns } from './properties.ts'
import type { FormGas } from './test-gas.ts'
import type { TestCase, TestFailure } from './test-results.ts'
import { TestRun } from './test-run.ts'
import type { TestFiles, TestLanguages, TestRunOptions } from './test-start.ts'

export type { FormTrace } from '../trace/form-traces.ts'
export type { PropertyRuns } from './properties.ts'
export { isContract } from './test-forms.ts'
export type { FormGas } from './test-gas.ts'
export type { FailureDetail, TestCase, TestFailure } from './test-results.ts'
export { TestRun } from './test-run.ts'
export type { TestFiles } from './test-start.ts'

/** Where and why a file ended early. */
export interface StoppedAt {
  readonly file: string
  readonly place: TextPlace | null
  /** If code of a module failed, the top-level form of the test file that called it; otherwise null. */
  readonly calledAt: { readonly file: string; readonly place: TextPlace } | null
  readonly message: string
  /** Message of live nodes, which word some errors differently. */
  readonly wireMessage: string
}

export interface TestReport {
  readonly passed: number
  readonly failures: readonly TestFailure[]
  /** All expectations, in the order of their evaluation. */
  readonly cases: readonly TestCase[]
  /** Milligas of each form at the top level of the file and of those that it loads, in the order of the text. */
  readonly gas: readonly FormGas[]
  /** Lines that the file printed. */
  readonly output: readonly string[]
  /** Place and reason of an early end, or null if the file ran to its end. */
  readonly stopped: StoppedAt | null
}

/**
 * Runs a test file. Errors of the test file are reported in `stopped`, never thrown.
 * @param languages makes the languages of the run
 * @param start what the run begins with, and who observes it
 */
export function runTests(
  file: string,
  files: TestFiles,
  languages = languagesOf,
  start: TestRunOptions = {},
): TestReport {
  const run = new TestRun(files, file, languages, start)
  let stopped: TestReport['stopped'] = null
  try {
    run.runFile(file)
  } catch (error) {
    if (!(error instanceof ContractError)) {
      stopped = stopOfFork(run, error, start)
      if (stopped === null) throw error
    } else stopped = stoppedBy(run, error, file)
  }
  const { passed, failures, cases, output, formGas } = run
  return { passed, failures, cases, gas: formGas, output, stopped }
}

function stoppedBy({ failedForm }: TestRun, error: ContractError, file: string): StoppedAt {
  const { place, message, wireMessage } = error
  const isElsewhere = failedForm !== null && failedForm.file !== error.file
  return { file: error.file ?? file, place, calledAt: isElsewhere ? failedForm : null, message, wireMessage }
}

/** The early end of a run whose fork lacks a needed value, at the form that needs it. */
function stopOfFork(
  { failedForm, file }: TestRun,
  error: unknown,
  { refusal = null }: TestRunOptions,
): StoppedAt | null {
  const message = refusal?.(error) ?? null
  if (message === null) return null
  return { ...(failedForm ?? { file, place: null }), calledAt: null, message, wireMessage: message }
}

/** Runs of a property, and the seed of its values. */
const DEFAULT_RUNS: PropertyRuns = { seed: 1, runs: 256 }
const TEST_FORMS = ['expect', 'expect-failure', 'expect-that', 'for-all', 'for-any-order']

/** The languages of test files: with the natives of tests, without them, and with natives that refuse modules. */
export function languagesOf(test: TestRun, runs: PropertyRuns = DEFAULT_RUNS): TestLanguages {
  const natives = testNatives(test)
  const all = languageWith(natives, expectations(test, runs))
  const refused = new Set([...natives.map(({ name }) => name), ...TEST_FORMS])
  const guarded: Language = {
    ...all,
    natives: new StrictMap(all.natives, refused),
    forms: new StrictMap(all.forms, refused),
  }
  return { all, core: language, guarded }
}

/** A map that throws for some of its entries: natives of tests within modules. */
class StrictMap<T> extends Map<string, T> {
  readonly #refused: ReadonlySet<string>

  constructor(entries: ReadonlyMap<string, T>, refused: ReadonlySet<string>) {
    super(entries)
    this.#refused = refused
  }

  override get(name: string): T | undefined {
    const found = super.get(name)
    if (found !== undefined && this.#refused.has(name)) throw nativeOfTests()
    return found
  }
}
