/** `newcut bench`: runs the benchmarks in bench/. */

import { progressBarFor } from '#faces/cli/progress.ts'
import type { CommandContext } from '#faces/cli/terminal.ts'
import type { Progress } from '#ground/base/progress.ts'

/** Suites and files of a benchmark run (bench/bench.ts). */
export interface BenchOptions {
  readonly suites: readonly string[]
  readonly quick: boolean
  readonly rigs?: string | undefined
  readonly json?: string | undefined
  readonly compare?: string | undefined
}

/** Resolves with exit code 1 if a result is worse than in the earlier report. */
export async function runBench(
  options: BenchOptions,
  { out, err, environment, nowMs }: CommandContext,
): Promise<number> {
  const bar = progressBarFor(err, environment, nowMs)
  const covered = bar.wrapOutput(out)
  const onProgress = (progress: Progress | null) => {
    if (progress === null) bar.clear()
    else bar.update({ ...progress, unit: 'suites' })
  }
  try {
    const { runBench: run } = await import('../../bench/bench.ts')
    return await run(options, (line) => void covered.write(`${line}\n`), onProgress)
  } finally {
    bar.clear()
  }
}
