/**
 * The language of smart contracts, without a node: loads and runs code, runs test files, formats texts.
 *
 * | task | start with |
 * |---|---|
 * | check a contract, and list its members | {@link loadModules}, {@link LoadedModule} |
 * | run code, or the text of a test file | {@link runCode}, {@link TextRun} |
 * | run test files, with coverage and gas | {@link testFiles}, {@link TestFilesReport} |
 * | format a text | {@link formatCode} |
 *
 * Code runs on an empty chain, in the version of the language that the public network has. Gas is in units unless a
 * name says milligas. Failures of code under test are results; texts that cannot be loaded or formatted throw a
 * `NewcutError` with the code `BAD_INPUT`.
 *
 * @example Load a contract, and call it.
 * ```ts
 * import { loadModules, runCode } from 'newcut/contracts'
 *
 * const contract = `(module counter GOVERNANCE
 *   (defcap GOVERNANCE () true)
 *   (defun next:integer (n:integer) (+ n 1)))`
 * const [module] = loadModules(contract)
 * console.log(module.members.map(({ kind, name }) => `${kind} ${name}`))
 * const { value, gas } = runCode(`${contract} (counter.next 41)`)
 * console.log(`${value}, gas ${gas}`)
 * ```
 * @module newcut/contracts
 */

import { operatingError } from '#ground/base/errors.ts'
import { formatFile } from '../editor/format/format.ts'
import { testingErrors } from './errors.ts'

export type { DeployedSize, GasRow, GasRowKind } from '../contracts/repl/run-observer.ts'
export type { CoveredCount as Reached, FileCoverage as FileReach } from './coverage.ts'
export type { CoveredFiles } from './files.ts'
export {
  type LoadedModule,
  loadModules,
  type ModuleField,
  type ModuleMember,
  runCode,
  type TextOptions,
  type TextRun,
  type TextTest,
} from './programs.ts'
export {
  type SourceCoverage,
  type TestFileCase,
  type TestFileResult,
  type TestFilesOptions,
  type TestFilesReport,
  testFiles,
} from './suite.ts'

/**
 * Formats a text. Line breaks of the author stay; indentation, spaces and long lines do not.
 * @param name of the text. One that ends with `.repl` has the grammar of test files.
 * @throws NewcutError BAD_INPUT with `name:line:column: reason` for a text that cannot be read
 */
export function formatCode(text: string, name = 'code.pact'): string {
  const result = formatFile(name, text)
  if ('text' in result) return result.text
  const [{ line, column, message }] = result.errors
  throw operatingError(testingErrors.failedText, { place: `${name}:${line}:${column}`, message })
}
