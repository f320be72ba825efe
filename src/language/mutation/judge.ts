/** Judges mutants in threads, with the verdicts of earlier runs where they still hold. */
import { packageVersion } from '#ground/platform/version.ts'
import type { RunBounds } from '../contracts/repl/test-start.ts'
import type { CallForm } from '../contracts/syntax/form.ts'
import { mutantKeyOf, VerdictCache, type VerdictStore } from './cache.ts'
import { applyEdits } from './fault.ts'
import type { JudgedMutant, PlantedMutant } from './result.ts'
import type { MeasuredFile, MutantVerdict, TestChoices, TestFault } from './run-tests.ts'
import type { MutationThreads, RunMutant } from './threads.ts'

export interface JudgeOptions {
  readonly choices: TestChoices
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

interface SpecialFiles {
  /** Expectations of files that count for no fault. */
  readonly brittle: ReadonlyMap<MeasuredFile, readonly TestFault[]>
  /** Files on forks. A later run may see other blocks, so their verdicts are not kept. */
  readonly forked: ReadonlySet<MeasuredFile>
}

/** A run may cost this many times as much as without the fault, and a little more. */
const MAX_FACTOR = 10
const FREE_MILLIGAS = 100_000_000
const NO_BOUNDS: RunBounds = { milligas: Number.POSITIVE_INFINITY, work: Number.POSITIVE_INFINITY }
/** Verdicts between two writes of the store: an interrupted run loses no more. */
const WRITTEN_AT_ONCE = 100

/** The text of modules with one more constant, which nothing uses. */
function textWithConstants(text: string, modules: readonly CallForm[]): string {
  const edits = modules.map(({ to }) => ({ from: to - 1, to: to - 1, text: '\n  (defconst newcut-mutant-none 0)\n' }))
  return applyEdits(text, edits)
}

/** Test file -> its expectations that fail after any change of a contract, such as those of its hash. */
export async function failuresOfChanges(
  threads: MutationThreads,
  mutants: readonly PlantedMutant[],
): Promise<Map<MeasuredFile, readonly TestFault[]>> {
  const pairs = new Map(
    mutants.flatMap((each) => each.reachedBy.map((file) => [`${each.path} ${file.file}`, { ...each, file }] as const)),
  )
  const runs = [...pairs.values()].map(({ path, text, mutant, modules, file }) => {
    const changed = { path, text: textWithConstants(text, modules), module: mutant.module }
    return { file: file.file, mutant: changed, bounds: NO_BOUNDS, excluded: [] }
  })
  const failures = await threads.failuresOf(runs)
  const faults = new Map<MeasuredFile, readonly TestFault[]>()
  for (const [i, { file }] of [...pairs.values()].entries()) {
    faults.set(file, [...(faults.get(file) ?? []), ...failures[i]])
  }
  return faults
}

function boundsOf({ milligas, work }: MeasuredFile): RunBounds {
  return { milligas: boundOf(milligas), work: boundOf(work) }
}

export class Judge {
  readonly ends = new Map<PlantedMutant, JudgedMutant>()
  runs = 0
  known = 0
  readonly #options: JudgeOptions
  readonly #brittle: ReadonlyMap<MeasuredFile, readonly TestFault[]>
  readonly #cache: VerdictCache
  readonly #verdicts: ReadonlyMap<MeasuredFile, Record<string, MutantVerdict>>

  constructor(measured: readonly MeasuredFile[], options: JudgeOptions, { brittle, forked }: SpecialFiles) {
    this.#options = options
    this.#brittle = brittle
    this.#cache = new VerdictCache(options.store?.read() ?? null, packageVersion)
    this.#verdicts = new Map(
      measured.map((each) => [each, forked.has(each) ? {} : this.#cache.verdictsOf(each, options.choices)]),
    )
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
      const excluded = (this.#brittle.get(file) ?? []).map(({ name }) => name)
      const verdict = await run({ file: file.file, mutant: changed, bounds: boundsOf(file), excluded })
      verdicts[key] = verdict
      if (this.runs % WRITTEN_AT_ONCE === 0) this.#options.store?.write(this.#cache.text)
      if (isFinal(verdict)) return { verdict, test: file.file }
    }
    return { verdict: { kind: 'survived' }, test: null }
  }
}

const isFinal = ({ kind }: MutantVerdict) => kind !== 'survived'
const boundOf = (cost: number) => MAX_FACTOR * cost + FREE_MILLIGAS
