/**
 * Latency of new work: from publication until every thread has reported its first slice, including that message. Then
 * the hashrate with regular preemptions relative to none.
 */
import { availableParallelism } from 'node:os'
import type { CpuEngine } from '../src/mining/engine/cpu/cpu.ts'
import { percentile, type Row, relativeTo } from './report.ts'
import { type Effort, measuredRate, pause, withEngine } from './suite.ts'
import { engineWork, freshWork, UNREACHABLE } from './work.ts'

const SUITE = 'preempt'
const EVERY_MS = [10, 100, 1000]
/**
 * Warm-up: pieces of new work in quick succession, as many as a miner gets in its first hours. Until then V8 compiles
 * on threads of normal priority, which take a search thread's core for some milliseconds.
 */
const WARM_UP = 10_000
/** Measured pieces of new work per round. */
const SAMPLES = 200

export function preempt({ sampleMs, rounds, isQuick }: Effort): Promise<Row[]> {
  // Low priority, as in mining, so that the publishing thread is not delayed.
  return withEngine(availableParallelism(), 'low', async (engine) => {
    const give = giver(engine)
    await give()
    await pause(2 * sampleMs)
    const latencies: number[] = []
    for (let i = 0; i < (isQuick ? 0 : WARM_UP); i++) {
      await pause(1)
      await give()
    }
    for (let i = 0; i < (isQuick ? 40 : SAMPLES * rounds); i++) {
      await pause(3 + 7 * Math.random())
      const startMs = performance.now()
      if (!(await give())) throw new Error('new work was not taken')
      latencies.push(performance.now() - startMs)
    }
    const sample = (name: string, value: number): Row => ({ suite: SUITE, name, unit: 'ms', samples: [value] })
    return [
      sample('new work p50', percentile(latencies, 0.5)),
      sample('new work p99', percentile(latencies, 0.99)),
      sample('new work max', Math.max(...latencies)),
      ...(await costs(engine, give, { sampleMs, rounds, isQuick })),
    ]
  })
}

/** Hashrates with preemptions at a fixed interval, in turn with undisturbed ones. */
async function costs(
  engine: CpuEngine,
  give: () => Promise<boolean>,
  { sampleMs, rounds, isQuick }: Effort,
): Promise<Row[]> {
  const rates = new Map<number, number[]>()
  for (const everyMs of [0, ...EVERY_MS]) if (!isQuick || everyMs < 1000) rates.set(everyMs, [])
  for (let round = 0; round < rounds; round++) {
    for (const [everyMs, samples] of rates) {
      const timer = everyMs === 0 ? undefined : setInterval(() => void give(), everyMs)
      // At least one interval, which contains a preemption.
      samples.push(await measuredRate(engine, Math.max(2 * sampleMs, everyMs)))
      clearInterval(timer)
    }
  }
  const undisturbed = rates.get(0) ?? []
  return [...rates].map(([everyMs, samples]) => {
    const name = everyMs === 0 ? 'undisturbed' : `preempted every ${everyMs} ms`
    const relative = relativeTo('undisturbed', samples, undisturbed)
    return { suite: SUITE, name, unit: 'MH/s', samples, ...(relative && { relative }) }
  })
}

/** Gives the engine fresh work under the next sequence. */
function giver(engine: CpuEngine): () => Promise<boolean> {
  let sequence = 0
  return () => engine.setWork(engineWork(++sequence, freshWork(UNREACHABLE), 0n))
}
