/** `newcut bench`: the benchmarks, which are in bench/. */
import type { BenchOptions } from '../cli/program.ts'

/** Exit code 1 when something is worse than in the report it is compared with. */
export async function runBench(options: BenchOptions, print: (line: string) => void): Promise<number> {
  return (await import('../../bench/bench.ts')).runBench(options, print)
}
