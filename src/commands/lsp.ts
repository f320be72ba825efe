/** `newcut lsp`: the language server for contracts, on stdin and stdout. */
import { execFile } from 'node:child_process'
import { NewcutError } from '../base/errors.ts'
import { type ForkValues, forkSetup } from '../cli/input/fork-setup.ts'
import type { Surroundings } from '../cli/terminal.ts'
import type { TestFileReport } from '../editor/features/test-lenses.ts'
import { type EditorHost, serveEditor } from '../editor/protocol/server.ts'
import { diskFiles } from '../editor/workspace/disk-files.ts'
import { forkArguments, LiveTexts } from './live-texts.ts'

/** A test file that takes longer is stopped. */
const TEST_TIMEOUT_MS = 60_000
const MAX_REPORT_BYTES = 64 * 1024 * 1024

/**
 * Serves an editor until it ends the session or closes stdin.
 * @throws NewcutError BAD_OPTION
 */
export function runLsp(values: ForkValues, surroundings: Surroundings): Promise<number> {
  const { stdin, stdout } = process
  const warn = warnTo(surroundings)
  serveLsp(values, surroundings, { input: stdin, output: stdout })
  if (stdin.isTTY) warn('waiting for an editor on stdin; docs/EDITORS.md says how editors start it')
  return new Promise((resolve) => {
    // An editor that ends without `exit` leaves no process behind, although the library still waits for the editor.
    stdin.on('end', () => {
      resolve(1)
      setImmediate(() => process.exit(1))
    })
  })
}

const warnTo =
  ({ err }: Pick<Surroundings, 'err'>) =>
  (line: string) =>
    void err.write(`newcut lsp: ${line}\n`)

/**
 * Serves an editor at these streams. `exit` ends the process.
 * @throws NewcutError BAD_OPTION
 */
export function serveLsp(
  values: ForkValues,
  surroundings: Pick<Surroundings, 'version' | 'err' | 'environment'>,
  streams: Pick<EditorHost, 'input' | 'output'>,
): void {
  const warn = warnTo(surroundings)
  const forked = forkSetup(values, surroundings.environment)
  const moduleTexts = forked === null ? null : new LiveTexts(forked, warn)
  const runTest = (file: string) => testReport(file, moduleTexts === null ? [] : forkArguments(moduleTexts.options))
  serveEditor({ ...streams, version: surroundings.version, filesIn: diskFiles, moduleTexts, runTest, warn })
}

/**
 * Runs a test file in a process of its own, so that it can take its time.
 * @param options further arguments of `newcut contract`
 */
function testReport(file: string, options: readonly string[]): Promise<TestFileReport> {
  const [program, main] = [process.execPath, process.argv[1]]
  return new Promise((resolve, reject) => {
    const limits = { timeout: TEST_TIMEOUT_MS, maxBuffer: MAX_REPORT_BYTES }
    execFile(program, [main, 'contract', '--json', file, ...options], limits, (error, stdout, stderr) => {
      const report = reportOf(stdout)
      if (report !== null) resolve(report)
      else if (error?.killed) reject(new NewcutError('BAD_INPUT', `it took longer than ${TEST_TIMEOUT_MS / 1000} s`))
      else reject(new NewcutError('BAD_INPUT', stderr.trim() || (error?.message ?? 'no report')))
    })
  })
}

/** @returns null unless the output is a report */
function reportOf(output: string): TestFileReport | null {
  try {
    return JSON.parse(output) as TestFileReport
  } catch {
    // A run that was stopped has written a part of it, or nothing.
    return null
  }
}
