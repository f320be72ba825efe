/** The CPU engine on 1 to N threads: how much does each additional thread add? */
import { availableParallelism } from 'node:os'
import { type Row, relativeTo } from './report.ts'
import { type Effort, measuredRate, pause, withEngine } from './suite.ts'
import { engineWork, freshWork, UNREACHABLE } from './work.ts'

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
  return withEngine(count, 'normal', async (engine) => {
    await engine.setWork(engineWork(1, freshWork(UNREACHABLE), 0n))
    await pause(sampleMs / 2)
    return measuredRate(engine, sampleMs)
  })
}
