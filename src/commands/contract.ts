/** `newcut contract`: runs test files of the contract language, and reports expected and actual values. */
import { readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { printerTo, type Surroundings } from '../cli/terminal.ts'
import { ContractError, type TextPlace } from '../contracts/errors.ts'
import { runTests, type TestReport } from '../contracts/repl/run.ts'
import type { FormGas } from '../contracts/repl/test-gas.ts'
import type { Files, TestFailure } from '../contracts/repl/test-run.ts'
import { NewcutError } from '../core/errors.ts'
import type { ForkValues } from './fork-setup.ts'

/** The longest test file, which the reader holds in memory. */
const MAX_FILE_CHARACTERS = 4_000_000

const files: Files = {
  resolve: (from, path) => resolve(dirname(from), path),
  read: (file) => {
    let text: string
    try {
      text = readFileSync(file, 'utf8')
    } catch (error) {
      throw new ContractError('EvalError', `cannot read ${shown(file)} (${(error as NodeJS.ErrnoException).code})`)
    }
    if (text.length <= MAX_FILE_CHARACTERS) return text
    throw new ContractError('EvalError', `${shown(file)} has more than ${MAX_FILE_CHARACTERS} characters`)
  },
  shown,
}

/** Name of a file, relative to the working directory. */
function shown(file: string): string {
  return relative(process.cwd(), file)
}

export interface ContractOptions {
  readonly files: readonly string[]
  readonly json: boolean
  /** Shows the gas of each form. */
  readonly gas: boolean
  readonly fork: ForkValues
}

/** Returns the exit code: 1 when an expectation failed, or a file ended early. */
export async function runContract(options: ContractOptions, around: Surroundings): Promise<number> {
  const print = printerTo(around.out)
  if (options.files.length === 0) throw new NewcutError('BAD_OPTION', 'contract takes the names of test files')
  const { complete, end } = await (await import('./contract-fork.ts')).fileRunner(options.fork, around)
  let [passed, failed] = [0, 0]
  for (const file of options.files) {
    const report = await complete(resolve(file), (chain) => runTests(resolve(file), files, undefined, chain))
    passed += report.passed
    failed += report.failures.length + (report.stopped === null ? 0 : 1)
    const { gas, ...rest } = report
    if (options.json) print(JSON.stringify({ file, ...rest, ...(options.gas ? { gas: gas.map(gasJson) } : {}) }))
    else for (const line of reportLines(file, report, options.gas)) print(line)
  }
  if (!options.json) print(`${passed} passed, ${failed} failed`)
  end()
  return failed === 0 ? 0 : 1
}

interface Located {
  readonly file: string
  readonly place: TextPlace | null
}

/** `file:line:column`, relative to the working directory. */
function place(at: Located): string {
  const name = shown(at.file)
  return at.place === null ? name : `${name}:${at.place.line + 1}:${at.place.column + 1}`
}

function gasJson({ milligas, text, ...at }: FormGas) {
  return { form: place(at), text, milligas }
}

const SHOWN_CHARACTERS = 60

/** The gas of each form and of all, in gas with three decimal places. */
function gasLines(forms: readonly FormGas[]): string[] {
  const shown = (milligas: number) => (milligas / 1000).toFixed(3).padStart(14)
  const rows = forms.map(({ milligas, text, ...at }) => {
    const start = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text
    return `${shown(milligas)}  ${place(at)}: ${start}`
  })
  const total = forms.reduce((sum, { milligas }) => sum + milligas, 0)
  return [...rows, `${shown(total)}  gas in total`]
}

function reportLines(
  file: string,
  { passed, failures, gas, output, stopped }: TestReport,
  showsGas: boolean,
): string[] {
  const failure = (each: TestFailure) => `  FAILED ${place(each)}: ${each.name}: ${each.what}`
  return [
    ...output.map((line) => `  ${line}`),
    ...(showsGas ? gasLines(gas) : []),
    ...failures.map(failure),
    ...(stopped === null ? [] : [`  STOPPED ${place(stopped)}: ${stopped.message}`]),
    `${file}: ${passed} passed, ${failures.length} failed${stopped === null ? '' : ', ended early'}`,
  ]
}
