/** `newcut test --mutate`: plants faults in contracts, and reports those that no test notices. */
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { countText, painter } from '#faces/cli/line.ts'
import type { Values } from '#faces/cli/options/row.ts'
import type { testOptions } from '#faces/cli/options/test.ts'
import { writeOutput } from '#faces/cli/output-file.ts'
import { progressBarFor } from '#faces/cli/progress.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { describeError } from '#ground/base/errors.ts'
import { makeFolders, replaceFile } from '#ground/base/replace-file.ts'
import { MAX_CODE_BYTES, MAX_INPUT_BYTES, readUserText } from '#ground/base/user-file.ts'
import {
  countMutants,
  type MutationResult,
  mutationJson,
  mutationLines,
  plantFaults,
  schemaReport,
  scoreText,
  type VerdictStore,
} from '#language/mutation/mutate.ts'
import { cacheFolder } from '#mining/engine/cache-folder.ts'
import { envForkOptions } from './input/env-fork.ts'
import { forkSetup } from './input/fork-setup.ts'

type TestValues = Values<typeof testOptions>

/** Seed of property tests: with a random one, the same fault might survive now and then. */
const SEED = 1

/**
 * Plants faults. The exit code is 1 if the tests notice fewer than `--mutate-min`.
 * @throws NewcutError BAD_INPUT if the tests fail without a fault
 */
export async function runMutation(
  files: readonly string[],
  values: TestValues,
  context: CommandContext,
): Promise<number> {
  const { json, match = null, seed = SEED, runs, jobs } = values
  const bar = progressBarFor(context.err, context.environment, context.nowMs, json)
  const result = await plantFaults({
    files,
    choices: { chance: { seed, runs }, match },
    covered: { dependencies: values['coverage-all'], excluded: values['coverage-exclude'] ?? [] },
    only: values['mutate-only'] ?? null,
    jobs,
    fork: forkSetup(values, context.environment),
    optionsOf: (call) => envForkOptions(call, context.environment),
    store: storeOf(values['mutate-cache'], context),
    onProgress: ({ done, all, survived }) => {
      bar.update({ what: 'planted faults', done, total: all, unit: `faults, ${survived} survived` })
    },
  }).finally(bar.clear)
  const report = values['mutate-report']
  if (report !== undefined) writeOutput('--mutate-report', report, reportText(result))
  if (json) printerTo(context.out)(JSON.stringify(mutationJson(result)))
  else printReport(result, context)
  return isEnough(result, values['mutate-min'], context) ? 0 : 1
}

function reportText(result: MutationResult): string {
  return `${JSON.stringify(
    schemaReport(result, (file) => readUserText(file, MAX_CODE_BYTES)),
    null,
    2,
  )}\n`
}

function printReport(result: MutationResult, { out, environment }: CommandContext): void {
  const print = printerTo(out)
  const paint = painter(out, environment)
  print(`${result.passed} passed without faults`)
  print('')
  for (const { text, side } of mutationLines(result)) {
    print(side === undefined ? text : paint(side === 'before' ? 'red' : 'green', text))
  }
  const { killed, survived, score } = countMutants(result.mutants)
  print(`score ${scoreText(score)}: the tests notice ${killed} of ${countText(killed + survived, 'fault')}`)
}

function isEnough(result: MutationResult, least: number | undefined, { err }: CommandContext): boolean {
  const { score } = countMutants(result.mutants)
  if (least === undefined || score >= least) return true
  err.write(`the score is ${scoreText(score)}, below the ${least} % of --mutate-min\n`)
  return false
}

/** The file of `--mutate-cache`, or one for the working directory. A file that cannot be read has no results. */
function storeOf(file: string | undefined, { environment, err }: CommandContext): VerdictStore | null {
  if (file === 'off') return null
  const folderHash = createHash('sha256').update(process.cwd()).digest('hex').slice(0, 16)
  const path = file ?? join(cacheFolder(environment, process.platform), 'mutants', `${folderHash}.json`)
  return {
    read: () => {
      try {
        return readUserText(path, MAX_INPUT_BYTES)
      } catch {
        return null
      }
    },
    write: (text) => {
      try {
        makeFolders(dirname(path))
        replaceFile(path, text)
      } catch (error) {
        err.write(`--mutate-cache ${path}: the next run begins without results: ${describeError(error)}\n`)
      }
    },
  }
}
