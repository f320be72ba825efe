/** `newcut bench`: the benchmarks, which are in bench/. */

import { progressBarFor, type Task } from '../cli/progress.ts'
import type { Surroundings } from '../cli/terminal.ts'
import type { Progress } from '../core/progress.ts'

/** The time goes on while a suite measures. */
const REDRAW_MS = 500

/** Suites and files of a benchmark run (bench/bench.ts). */
export interface BenchOptions {
  readonly suites: readonly string[]
  readonly quick: boolean
  readonly rigs?: string | undefined
  readonly json?: string | undefined
  readonly compare?: string | undefined
}

/** Exit code 1 when something is worse than in the report it is compared with. */
export async function runBench(options: BenchOptions, { out, err, environment, nowMs }: Surroundings): Promise<number> {
  const bar = progressBarFor(err, environment, nowMs)
  const covered = bar.before(out)
  let task: Task | null = null
  const show = () => task !== null && bar.tell(task)
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
