/** `newcut contract`: runs test files of the contract language, and reports expected and actual values. */
import { readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { printerTo, type Surroundings } from '../cli/terminal.ts'
import { ContractError, type TextPlace } from '../contracts/errors.ts'
import { runTests, type TestReport } from '../contracts/repl/run.ts'
import type { Files, TestFailure } from '../contracts/repl/test-run.ts'
import { NewcutError } from '../core/errors.ts'

/** The longest test file, which the reader holds in memory. */
const MAX_FILE_CHARACTERS = 4_000_000

const files: Files = {
  resolve: (from, path) => resolve(dirname(from), path),
  read: (file) => {
    let text: string
    try {
      text = readFileSync(file, 'utf8')
    } catch (error) {
      throw new ContractError('EvalError', `cannot read ${file} (${(error as NodeJS.ErrnoException).code})`)
    }
    if (text.length <= MAX_FILE_CHARACTERS) return text
    throw new ContractError('EvalError', `${file} has more than ${MAX_FILE_CHARACTERS} characters`)
  },
}

export interface ContractOptions {
  readonly files: readonly string[]
  readonly json: boolean
}

/** Returns the exit code: 1 when an expectation failed, or a file ended early. */
export async function runContract(options: ContractOptions, { out }: Surroundings): Promise<number> {
  const print = printerTo(out)
  if (options.files.length === 0) throw new NewcutError('BAD_OPTION', 'contract takes the names of test files')
  let [passed, failed] = [0, 0]
  for (const file of options.files) {
    const report = runTests(resolve(file), files)
    passed += report.passed
    failed += report.failures.length + (report.stopped === null ? 0 : 1)
    if (options.json) print(JSON.stringify({ file, ...report }))
    else for (const line of reportLines(file, report)) print(line)
  }
  if (!options.json) print(`${passed} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

function reportLines(file: string, { passed, failures, output, stopped }: TestReport): string[] {
  const place = (at: { readonly file: string; readonly place: TextPlace | null }) => {
    const name = relative(process.cwd(), at.file)
    return at.place === null ? name : `${name}:${at.place.line + 1}:${at.place.column + 1}`
  }
  const failure = (each: TestFailure) => `  FAILED ${place(each)}: ${each.name}: ${each.what}`
  return [
    ...output.map((line) => `  ${line}`),
    ...failures.map(failure),
    ...(stopped === null ? [] : [`  STOPPED ${place(stopped)}: ${stopped.message}`]),
    `${file}: ${passed} passed, ${failures.length} failed${stopped === null ? '' : ', ended early'}`,
  ]
}
