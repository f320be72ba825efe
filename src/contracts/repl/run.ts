/** Runs `.repl` test files. */
import { ContractError, type TextPlace } from '../errors.ts'
import { languageWith } from '../language.ts'
import { expectations } from './expectations.ts'
import { testNatives } from './natives.ts'
import type { FormGas } from './test-gas.ts'
import { type Files, type TestFailure, TestRun } from './test-run.ts'

export interface TestReport {
  readonly passed: number
  readonly failures: readonly TestFailure[]
  /** Milligas of each form at the top level of the file and of those that it loads, in the order of the text. */
  readonly gas: readonly FormGas[]
  /** Lines that the file printed. */
  readonly output: readonly string[]
  /** Place and reason of an early end, or null if the file ran to its end. */
  readonly stopped: { readonly file: string; readonly place: TextPlace | null; readonly message: string } | null
}

/** Runs a test file. Errors of the test file are reported in `stopped`, never thrown. */
export function runTests(file: string, files: Files): TestReport {
  const run = new TestRun(files, file, (test) => languageWith(testNatives(test), expectations(test)))
  let stopped: TestReport['stopped'] = null
  try {
    run.runFile(file)
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    stopped = { file: error.file ?? file, place: error.place, message: error.message }
  }
  const { passed, failures, output, formGas } = run
  return { passed, failures, gas: formGas, output, stopped }
}
