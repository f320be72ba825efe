/** The CPU engine on 1 to N threads: does each one more bring a whole thread's worth? */
import { availableParallelism } from 'node:os'
import { CpuEngine } from '../src/engine/cpu/cpu.ts'
import type { Effort } from './bench.ts'
import { type Row, relativeTo } from './report.ts'
import { freshWork, UNREACHABLE } from './work.ts'

const SUITE = 'threads'

export async function threads({ sampleMs, rounds }: Effort): Promise<Row[]> {
  const counts = Array.from({ length: availableParallelism() }, (_, i) => i + 1)
  const totals = new Map<number, number[]>(counts.map((count) => [count, []]))
  for (let round = 0; round < rounds; round++) {
    for (const count of counts) totals.get(count)?.push(await rateOf(count, 2 * sampleMs))
  }
  const one = totals.get(1) ?? []
  return counts.flatMap((count): Row[] => {
    const samples = totals.get(count) ?? []
    const name = count === 1 ? '1 thread' : `${count} threads`
    const relative = relativeTo('1 thread', samples, one)
    const perCore = samples.map((rate) => rate / count)
    return [
      { suite: SUITE, name, unit: 'MH/s', samples, ...(relative && { relative }) },
      { suite: SUITE, name: `${name}, per core`, unit: 'MH/s', samples: perCore },
    ]
  })
}

async function rateOf(count: number, sampleMs: number): Promise<number> {
  return withEngine(count, async (engine) => {
    await engine.setWork({ sequence: 1, bytes: freshWork(UNREACHABLE), target: 0n })
    await pause(sampleMs / 2)
    return measuredRate(engine, sampleMs)
  })
}

/** Runs `task` with a started engine, and stops it. */
export async function withEngine<T>(count: number, task: (engine: CpuEngine) => Promise<T>): Promise<T> {
  const engine = new CpuEngine({ threads: count, kernel: 'auto', priority: 'normal', random: Math.random })
  const onWarning = (message: string) => void process.stderr.write(`${message}\n`)
  await engine.start(286, { onCandidate: () => undefined, onWarning })
  try {
    return await task(engine)
  } finally {
    await engine.stop()
  }
}

/** Million hashes a second over the next `sampleMs`. */
export async function measuredRate(engine: CpuEngine, sampleMs: number): Promise<number> {
  const [startMs, before] = [performance.now(), hashesOf(engine)]
  await pause(sampleMs)
  return (hashesOf(engine) - before) / (performance.now() - startMs) / 1000
}

function hashesOf(engine: CpuEngine): number {
  return engine.devices().reduce((sum, { hashes }) => sum + hashes, 0)
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
