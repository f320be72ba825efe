/**
 * Runs many seeds: `npm run sim -- --seeds 100000 [--from N]`, or one with a trace: `npm run sim -- --seed N`. With
 * `--plain` it has one node, a disk that is well, and a miner that nobody kills.
 */
import { parseArgs } from 'node:util'
import type { Extremes } from './report.ts'
import { plainScenario } from './scenario.ts'
import { type Outcome, simulate } from './simulation.ts'

const PROGRESS_MS = 5_000
/** What recovery is to take. */
const QUICK_MS = 2_000
/** Failing seeds that are told of one by one. */
const MAX_SHOWN = 50
const now = performance.now.bind(performance)

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '0' },
    seed: { type: 'string' },
    plain: { type: 'boolean', default: false },
  },
})

let running = Number(values.seed ?? values.from)
// What nobody catches is a failure of the seed that runs, and the end: nothing after it can be trusted.
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => {
    console.log(`seed ${running}: ${event}:`, error)
    process.exit(2)
  })
}

function describe({ seed, family, faults, violations }: Outcome): string {
  const lines = violations.map(({ atMs, invariant, detail }) => `    ${Math.round(atMs)} ms: ${invariant}: ${detail}`)
  return [`seed ${seed} (${family}): ${faults.join('; ')}`, ...lines].join('\n')
}

async function one(seed: number): Promise<number> {
  const outcome = await simulate(seed, (line) => console.log(line), values.plain ? plainScenario : undefined)
  console.log(describe(outcome))
  console.log(JSON.stringify({ verdicts: outcome.verdicts, blocks: outcome.blocks, ...outcome.extremes }))
  console.log(`trace ${outcome.trace}`)
  return outcome.violations.length === 0 ? 0 : 1
}

async function many(from: number, seeds: number): Promise<number> {
  const startMs = now()
  let shownMs = startMs
  let failed = 0
  const slow: number[] = []
  const recoveries = new Map<string, { seeds: number; late: number; worstMs: number; worst: number }>()
  const kinds = new Map<string, { count: number; seeds: number[] }>()
  const extremes = new Map<keyof Extremes, { value: number; seed: number }>()
  for (let seed = from; seed < from + seeds; seed++) {
    running = seed
    const outcome = await simulate(seed)
    for (const [name, value] of Object.entries(outcome.extremes) as [keyof Extremes, number][]) {
      if (value > (extremes.get(name)?.value ?? -1)) extremes.set(name, { value, seed })
    }
    const known = recoveries.get(outcome.family) ?? { seeds: 0, late: 0, worstMs: 0, worst: seed }
    const { recoveryMs } = outcome.extremes
    if (recoveryMs > QUICK_MS && slow.length < MAX_SHOWN) slow.push(seed)
    recoveries.set(outcome.family, {
      seeds: known.seeds + 1,
      late: known.late + (recoveryMs > QUICK_MS ? 1 : 0),
      worstMs: Math.max(known.worstMs, recoveryMs),
      worst: recoveryMs > known.worstMs ? seed : known.worst,
    })
    if (outcome.violations.length > 0 && ++failed <= MAX_SHOWN) console.log(describe(outcome))
    for (const name of new Set(outcome.violations.map(({ invariant }) => invariant))) {
      const kind = kinds.get(name) ?? { count: 0, seeds: [] }
      kind.count++
      if (kind.seeds.length < 10) kind.seeds.push(seed)
      kinds.set(name, kind)
    }
    if (now() - shownMs < PROGRESS_MS && seed + 1 < from + seeds) continue
    shownMs = now()
    const done = seed + 1 - from
    const rate = (done / ((now() - startMs) / 1000)).toFixed(1)
    console.log(`${done} of ${seeds} seeds, ${rate} a second, ${failed} failed`)
  }
  for (const [name, { count, seeds: some }] of kinds) console.log(`${count} x ${name}: seeds ${some.join(', ')}`)
  for (const [family, { seeds: count, late, worstMs, worst }] of recoveries) {
    const share = `${late} of ${count} seeds recovered later than ${QUICK_MS} ms after the end of their faults`
    console.log(`${family}: ${share}; slowest: ${Math.round(worstMs)} ms (seed ${worst})`)
  }
  if (slow.length > 0) console.log(`recovered later: seeds ${slow.join(', ')}`)
  console.log(`memory of the process: ${Math.round(process.memoryUsage.rss() / 2 ** 20)} MiB`)
  for (const [name, { value, seed }] of extremes) console.log(`most ${name}: ${Math.round(value)} (seed ${seed})`)
  return failed === 0 ? 0 : 1
}

process.exitCode =
  values.seed === undefined ? await many(Number(values.from), Number(values.seeds)) : await one(Number(values.seed))
