/** `newcut lsp`: the language server for contracts, on stdin and stdout. */

import { randomInt } from 'node:crypto'
import { LiveTexts } from '#compose/live-texts.ts'
import { writeFlags } from '#faces/cli/config-file.ts'
import type { ProcessEnvironment } from '#faces/cli/line.ts'
import type { CommandContext } from '#faces/cli/terminal.ts'
import { operatingError } from '#ground/base/errors.ts'
import type { NetworkCopyOptions } from '#language/copy/network-copy.ts'
import type { TestFileReport } from '#language/editor/features/test-lenses.ts'
import { type EditorHost, serveEditor } from '#language/editor/protocol/server.ts'
import { diskFiles } from '#language/editor/workspace/disk-files.ts'
import type { EnvForkCall } from '#language/testing/env-forks.ts'
import type { FileRequests } from '#language/testing/files.ts'
import { runAlone } from '#language/testing/run.ts'
import { envForkOptions } from './input/env-fork.ts'
import { commandErrors } from './input/errors.ts'
import { type ForkValues, forkSetup } from './input/fork-setup.ts'
import { forkLine } from './results/fork-lines.ts'

/** A test file that takes longer is ended. */
const TEST_LIMIT_MS = 60_000
/** Runs of each property test. */
const PROPERTY_RUNS = 256

/**
 * Serves an editor until it ends the session or closes stdin.
 * @throws NewcutError BAD_OPTION
 */
export function runLsp(values: ForkValues, context: CommandContext): Promise<number> {
  const { stdin, stdout } = process
  const warn = warnTo(context)
  serveLsp(values, context, { input: stdin, output: stdout })
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
  ({ err }: Pick<CommandContext, 'err'>) =>
  (line: string) =>
    void err.write(`newcut lsp: ${line}\n`)

/**
 * Serves an editor at these streams. `exit` ends the process.
 * @param limitMs a test file that takes longer is ended
 * @throws NewcutError BAD_OPTION
 */
export function serveLsp(
  values: ForkValues,
  context: Pick<CommandContext, 'version' | 'err' | 'environment'>,
  streams: Pick<EditorHost, 'input' | 'output'>,
  limitMs = TEST_LIMIT_MS,
): void {
  const warn = warnTo(context)
  const { environment } = context
  const forked = forkSetup(values, environment)
  const moduleTexts = forked === null ? null : liveTexts(forked, warn)
  const runTest = testRuns(() => moduleTexts?.options ?? null, environment, limitMs)
  serveEditor({ ...streams, version: context.version, filesIn: diskFiles, moduleTexts, runTest, warn })
}

/**
 * The texts of a forked network.
 * @throws NewcutError BAD_OPTION for more than one chain
 */
function liveTexts(options: NetworkCopyOptions, warn: (line: string) => void): LiveTexts {
  const [chain = 0, ...others] = options.chains ?? []
  if (others.length > 0) {
    throw operatingError(commandErrors.severalChains)
  }
  return new LiveTexts(options, chain, {
    onPinned: (pin) => warn(forkLine(pin, chain)),
    onNotice: (line) => warn(writeFlags(line)),
    cacheHint: 'name another folder with --fork-cache',
  })
}

/** Runs test files in threads, so that they can take their time. @param fork that they run on */
function testRuns(fork: () => NetworkCopyOptions | null, environment: ProcessEnvironment, limitMs: number) {
  const optionsOf = (call: EnvForkCall) => envForkOptions(call, environment)
  return async (file: string): Promise<TestFileReport> => {
    const chance = { seed: randomInt(2 ** 32), runs: PROPERTY_RUNS }
    const questions: FileRequests = { traces: 'none', hasGas: false, coverage: null, runs: chance }
    const signal = AbortSignal.timeout(limitMs)
    try {
      return (await runAlone(file, questions, { fork: fork(), optionsOf, signal })).report
    } catch (error) {
      if (signal.aborted) throw operatingError(commandErrors.testTimeout, { seconds: limitMs / 1000 })
      throw error
    }
  }
}
