/** The interface of benchmark suites, and shared helpers. */

import { systemClock } from '../src/ground/platform/clock.ts'
import { CpuEngine } from '../src/mining/engine/cpu/cpu.ts'
import type { Priority } from '../src/mining/engine/cpu/priority.ts'
import { nonceRanges } from '../src/mining/engine/range.ts'
import type { Row } from './report.ts'

/** Duration per sample, and number of samples. */
export interface Effort {
  readonly sampleMs: number
  readonly rounds: number
  /** Whether everything runs and is verified, but too briefly for meaningful figures. */
  readonly isQuick: boolean
}

/** Timeout of any single wait. */
export const MAX_WAIT_MS = 10_000

/**
 * Measures and verifies. Reports omitted parts with `tell`.
 * @returns a text if it cannot measure
 * @throws if a check fails
 */
export type Suite = (effort: Effort, tell: (line: string) => void) => Promise<Row[] | string>

/** Runs `task` with a started engine, then stops it. */
export async function withEngine<T>(
  threads: number,
  priority: Priority,
  task: (engine: CpuEngine) => Promise<T>,
): Promise<T> {
  const engine = new CpuEngine({
    ranges: nonceRanges(threads, Math.random),
    kernel: 'auto',
    priority,
    clock: systemClock,
  })
  const onWarning = (message: string) => void process.stderr.write(`${message}\n`)
  await engine.start(286, { onCandidate: () => undefined, onWarning })
  try {
    return await task(engine)
  } finally {
    await engine.stop()
  }
}

/**
 * Measures the hashrate in MH/s over at least `sampleMs`. It takes longer on a busy machine, where low-priority threads
 * wait.
 */
export async function measuredRate(engine: CpuEngine, sampleMs: number): Promise<number> {
  const [startMs, before] = [performance.now(), engine.hashes()]
  do await pause(sampleMs)
  while (engine.hashes() === before && performance.now() - startMs < MAX_WAIT_MS)
  return (engine.hashes() - before) / (performance.now() - startMs) / 1000
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
