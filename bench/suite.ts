/** What a benchmark suite is, and what several of them share. */

import { CpuEngine } from '../src/engine/cpu/cpu.ts'
import type { Priority } from '../src/engine/cpu/priority.ts'
import { nonceRanges } from '../src/engine/range.ts'
import { systemClock } from '../src/platform/clock.ts'
import type { Row } from './report.ts'

/** How long a suite may take per sample, and how many it takes. */
export interface Effort {
  readonly sampleMs: number
  readonly rounds: number
  /** Everything runs and is checked, but so briefly that the figures mean nothing. */
  readonly isQuick: boolean
}

/** How long a suite waits for any one thing. */
export const MAX_WAIT_MS = 10_000

/**
 * Measures, and checks what it computed. Throws when a check fails. Returns a text where it cannot measure, and tells of
 * parts that it leaves out.
 */
export type Suite = (effort: Effort, tell: (line: string) => void) => Promise<Row[] | string>

/** Runs `task` with a started engine, and stops it. */
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
 * Million hashes a second over the next `sampleMs`, or longer: a busy machine keeps threads of low priority waiting.
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
