/** `newcut bench`: runs the benchmarks in bench/. */

import { progressBarFor, type Task } from '#faces/cli/progress.ts'
import type { CommandContext } from '#faces/cli/terminal.ts'
import type { Progress } from '#ground/base/progress.ts'

/** Update interval of the elapsed time during a suite. */
const REDRAW_MS = 500

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
  let task: Task | null = null
  const show = () => task !== null && bar.update(task)
  const onProgress = (progress: Progress | null) => {
    task = progress && { ...progress, unit: 'suites' }
    if (task === null) bar.clear()
    else show()
  }
  const timer = setInterval(show, REDRAW_MS).unref()
  try {
    const { runBench: run } = await import('../../bench/bench.ts')
    return await run(options, (line) => void covered.write(`${line}\n`), onProgress)
  } finally {
    clearInterval(timer)
    bar.clear()
  }
}
