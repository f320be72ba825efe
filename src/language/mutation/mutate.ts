/**
 * Plants faults in contracts and runs the tests that reach them. A fault that no expectation notices survives: the tests
 * have a hole there.
 */
import { availableParallelism } from 'node:os'
import { resolve, sep } from 'node:path'
import { operatingError } from '#ground/base/errors.ts'
import type { EnvForkCall } from '../testing/env-forks.ts'
import { type CoveredFiles, displayPath } from '../testing/files.ts'
import { ForkPins, type TestForkOptions } from '../testing/run.ts'
import { mutationErrors } from './errors.ts'
import { type IgnoreComment, ignoreCommentsIn } from './ignore-comments.ts'
import { failuresOfChanges, Judge, type JudgeOptions } from './judge.ts'
import { knownModules, moduleFactsOf } from './module-facts.ts'
import { isReached, type Mutant, mutantsOf, reachOf } from './mutants.ts'
import { operatorNames } from './operators.ts'
import { type MutationResult, mutantResultOf, type PlantedMutant } from './result.ts'
import type { MeasuredFile } from './run-tests.ts'
import { MutationThreads } from './threads.ts'

export type { VerdictStore } from './cache.ts'
export { mutationLines } from './report.ts'
export { mutationJson, schemaReport } from './report-json.ts'
export type { MutationResult } from './result.ts'
export { countMutants, scoreText } from './score.ts'

/** How to plant faults. */
interface MutationOptions extends JudgeOptions {
  readonly files: readonly string[]
  readonly covered: CoveredFiles
  /** Files and folders whose modules get faults; null for those that count for coverage. */
  readonly only: readonly string[] | null
  /** Number of threads; default: one for each processor. */
  readonly jobs?: number | undefined
  /** The fork that all files run on; null for none. */
  readonly fork: TestForkOptions | null
  /** The fork that a call of `env-fork` means. @throws NewcutError for options that no fork has */
  readonly optionsOf: (call: EnvForkCall) => TestForkOptions
}

/**
 * @throws NewcutError BAD_INPUT if the tests fail without a fault or reach no module, or if a comment is malformed. It
 * throws the errors of a fork too
 * @throws NewcutError BAD_OPTION for a path of `only` without modules
 */
export async function plantFaults(options: MutationOptions): Promise<MutationResult> {
  const { choices, only, jobs = availableParallelism() } = options
  const covered = only === null ? options.covered : { ...options.covered, dependencies: true }
  const pins = new ForkPins(options.optionsOf)
  const threads = new MutationThreads(jobs, pins, options.fork === null ? null : await pins.pin(options.fork))
  try {
    const files = await threads.measure(options.files, choices, covered)
    const measured = files.map((each) => passing(each.measured))
    const forked = new Set(files.flatMap((each) => (each.isForked ? [each.measured] : [])))
    const planted = plantedIn(measured, only)
    threads.useTexts(choices, new Map(measured.flatMap(({ texts }) => [...texts])))
    const brittle = await failuresOfChanges(threads, planted.mutants)
    const judge = new Judge(measured, options, { brittle, forked })
    await judge.run(threads, planted.mutants)
    const ended = planted.mutants.map((each) => ({ each, result: mutantResultOf(each, judge.ends.get(each)) }))
    const used = new Set(ended.map(({ each, result }) => (result.status === 'ignored' ? each.ignored : null)))
    return {
      mutants: ended.map(({ result }) => result),
      passed: measured.reduce((sum, { passed }) => sum + passed, 0),
      unusedComments: planted.comments.filter((each) => !used.has(each)).map(({ at }) => at),
      brittle: [...brittle.values()].flat(),
      runs: judge.runs,
      known: judge.known,
    }
  } finally {
    await threads.close()
  }
}

function passing(measured: MeasuredFile): MeasuredFile {
  const { fault } = measured
  if (fault === null) return measured
  throw operatingError(mutationErrors.failingTests, { test: `${fault.at}: ${fault.name}`, what: fault.what })
}

function plantedIn(measured: readonly MeasuredFile[], only: readonly string[] | null) {
  const texts = new Map(measured.flatMap((each) => [...each.texts]))
  const counted = new Set(measured.flatMap(({ coverage }) => coverage.map(({ file }) => file)))
  const paths = only === null ? [...counted] : chosenFrom(counted, only)
  const known = knownModules(texts)
  const costs = [...measured].sort((one, other) => one.milligas - other.milligas)
  const comments: IgnoreComment[] = []
  const mutants = paths.sort().flatMap((path) => {
    const text = texts.get(path) ?? ''
    const own = ignoreCommentsIn(text, displayPath(path), operatorNames)
    comments.push(...own)
    const reaches = costs.map((each) => {
      const counts = each.coverage.find(({ file }) => file === path)
      return { file: each, reach: counts === undefined ? null : reachOf(counts) }
    })
    const facts = moduleFactsOf(path, text, known)
    const modules = facts.map(({ form }) => form)
    const planted = facts.flatMap(mutantsOf).map((mutant): PlantedMutant => {
      const reachedBy = reaches.flatMap(({ file, reach }) => (reach !== null && isReached(mutant, reach) ? [file] : []))
      const ignored = own.find((each) => silences(each, mutant)) ?? null
      return { path, text, modules, mutant, reachedBy, ignored }
    })
    return planted
  })
  if (mutants.length === 0) throw operatingError(mutationErrors.noModules)
  return { mutants, comments }
}

function silences({ line, operators }: IgnoreComment, { place, operator }: Mutant): boolean {
  return place.line === line && (operators.length === 0 || operators.includes(operator))
}

function chosenFrom(paths: ReadonlySet<string>, only: readonly string[]): string[] {
  const chosen = only.flatMap((name) => {
    const path = resolve(name)
    const matches = [...paths].filter((each) => each === path || each.startsWith(path + sep))
    if (matches.length === 0) throw operatingError(mutationErrors.unusedPath, { option: '`mutate-only`', path: name })
    return matches
  })
  return [...new Set(chosen)]
}
