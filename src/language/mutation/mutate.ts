/**
 * Plants faults in contracts and runs the tests that reach them. A fault that no expectation notices survives: the tests
 * have a hole there.
 */
import { availableParallelism } from 'node:os'
import { resolve, sep } from 'node:path'
import { operatingError } from '#ground/base/errors.ts'
import { packageVersion } from '#ground/platform/version.ts'
import { type CoveredFiles, displayPath } from '../testing/files.ts'
import { mutantKeyOf, VerdictCache, type VerdictStore } from './cache.ts'
import { mutationErrors } from './errors.ts'
import { applyEdits } from './fault.ts'
import { type IgnoreComment, ignoreCommentsIn } from './ignore-comments.ts'
import { knownModules, moduleFactsOf } from './module-facts.ts'
import { isReached, type Mutant, mutantsOf, reachOf } from './mutants.ts'
import { operatorNames } from './operators.ts'
import { type JudgedMutant, type MutationResult, mutantResultOf, type PlantedMutant } from './result.ts'
import type { MeasuredFile, MutantVerdict, TestChoices } from './run-tests.ts'
import { MutationThreads, type RunMutant } from './threads.ts'

export type { VerdictStore } from './cache.ts'
export { mutationLines } from './report.ts'
export { mutationJson, schemaReport } from './report-json.ts'
export type { MutationResult } from './result.ts'
export { countMutants, scoreText } from './score.ts'

/** How to plant faults. */
interface MutationOptions {
  readonly files: readonly string[]
  readonly choices: TestChoices
  readonly covered: CoveredFiles
  /** Files and folders whose modules get faults; null for those that count for coverage. */
  readonly only: readonly string[] | null
  /** Number of threads; default: one for each processor. */
  readonly jobs?: number | undefined
  /** Keeps verdicts between runs; null keeps none. */
  readonly store: VerdictStore | null
  /** Called after each mutant. */
  readonly onProgress?: (progress: MutationProgress) => void
}

interface MutationProgress {
  readonly done: number
  readonly all: number
  readonly survived: number
}

/** A run may cost this many times as much as without the fault, and a little more. */
const MAX_FACTOR = 10
const FREE_MILLIGAS = 100_000_000

/**
 * @throws NewcutError BAD_INPUT if the tests fail without a fault, need a fork or reach no module, or if a comment is
 * malformed
 * @throws NewcutError BAD_OPTION for a path of `only` without modules
 */
export async function plantFaults(options: MutationOptions): Promise<MutationResult> {
  const { files, choices, only, jobs = availableParallelism() } = options
  const covered = only === null ? options.covered : { ...options.covered, dependencies: true }
  const threads = new MutationThreads(jobs)
  try {
    const measured = passing(files, await threads.measure(files, choices, covered))
    const planted = plantedIn(measured, only)
    threads.useTexts(choices, new Map(measured.flatMap(({ texts }) => [...texts])))
    const judge = new Judge(measured, options)
    await judge.run(threads, planted.mutants)
    const ended = planted.mutants.map((each) => ({ each, result: mutantResultOf(each, judge.ends.get(each)) }))
    const used = new Set(ended.map(({ each, result }) => (result.status === 'ignored' ? each.ignored : null)))
    return {
      mutants: ended.map(({ result }) => result),
      passed: measured.reduce((sum, { passed }) => sum + passed, 0),
      unusedComments: planted.comments.filter((each) => !used.has(each)).map(({ at }) => at),
      runs: judge.runs,
      known: judge.known,
    }
  } finally {
    await threads.close()
  }
}

function passing(files: readonly string[], measured: readonly (MeasuredFile | null)[]): MeasuredFile[] {
  return measured.map((each, i) => {
    if (each === null) throw operatingError(mutationErrors.forkingTests, { file: files[i] })
    const { fault } = each
    if (fault === null) return each
    throw operatingError(mutationErrors.failingTests, { test: `${fault.at}: ${fault.name}`, what: fault.what })
  })
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
    const planted = moduleFactsOf(path, text, known)
      .flatMap(mutantsOf)
      .map((mutant): PlantedMutant => {
        const reachedBy = reaches.flatMap(({ file, reach }) =>
          reach !== null && isReached(mutant, reach) ? [file] : [],
        )
        return { path, text, mutant, reachedBy, ignored: own.find((each) => silences(each, mutant)) ?? null }
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
    const found = [...paths].filter((each) => each === path || each.startsWith(path + sep))
    if (found.length === 0) throw operatingError(mutationErrors.unusedPath, { option: '`mutate-only`', path: name })
    return found
  })
  return [...new Set(chosen)]
}

/** Judges mutants, with the verdicts of earlier runs where they still hold. */
class Judge {
  readonly ends = new Map<PlantedMutant, JudgedMutant>()
  runs = 0
  known = 0
  readonly #options: MutationOptions
  readonly #cache: VerdictCache
  readonly #verdicts: ReadonlyMap<MeasuredFile, Record<string, MutantVerdict>>

  constructor(measured: readonly MeasuredFile[], options: MutationOptions) {
    this.#options = options
    this.#cache = new VerdictCache(options.store?.read() ?? null, packageVersion)
    this.#verdicts = new Map(measured.map((each) => [each, this.#cache.verdictsOf(each, options.choices)]))
  }

  async run(threads: MutationThreads, mutants: readonly PlantedMutant[]): Promise<void> {
    const reached = mutants.filter(({ reachedBy }) => reachedBy.length > 0)
    let [done, survived] = [0, 0]
    try {
      await threads.judge(reached, async (planted, run) => {
        const judged = await this.#judge(planted, run)
        this.ends.set(planted, judged)
        done++
        if (judged.verdict.kind === 'survived') survived++
        this.#options.onProgress?.({ done, all: reached.length, survived })
      })
    } finally {
      this.#options.store?.write(this.#cache.text)
    }
  }

  async #judge({ path, text, mutant, reachedBy }: PlantedMutant, run: RunMutant): Promise<JudgedMutant> {
    const key = mutantKeyOf(path, mutant)
    const files = reachedBy.map((file) => ({ file, verdicts: this.#verdicts.get(file) ?? {} }))
    for (const { file, verdicts } of files) {
      const verdict = verdicts[key]
      if (verdict === undefined || !isFinal(verdict)) continue
      this.known++
      return { verdict, test: file.file }
    }
    const changed = { path, text: applyEdits(text, mutant.edits), module: mutant.module }
    for (const { file, verdicts } of files) {
      if (verdicts[key] !== undefined) {
        this.known++
        continue
      }
      this.runs++
      const bounds = { milligas: boundOf(file.milligas), work: boundOf(file.work) }
      const verdict = await run(file.file, changed, bounds)
      verdicts[key] = verdict
      if (isFinal(verdict)) return { verdict, test: file.file }
    }
    return { verdict: { kind: 'survived' }, test: null }
  }
}

const isFinal = ({ kind }: MutantVerdict) => kind !== 'survived'
const boundOf = (cost: number) => MAX_FACTOR * cost + FREE_MILLIGAS
