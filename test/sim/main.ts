/**
 * Runs many seeds: `npm run sim -- --seeds 100000 [--from N] [--jobs N]`, or one with a trace: `npm run sim -- --seed N`.
 * With `--plain` it has one node, a disk that is well, and a miner that nobody kills. `--jobs`: processes; default: one
 * for each core.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { beJob, JOB, runJobs } from './jobs.ts'
import { plainScenario } from './scenario.ts'
import { simulate } from './simulation.ts'
import { describe, Tally } from './tally.ts'

const PROGRESS_MS = 5_000
const now = performance.now.bind(performance)

function countOf(name: string, text: string, least = 0): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < least) throw new RangeError(`--${name} ${text}: no number of that kind`)
  return value
}

async function one(seed: number, isPlain: boolean): Promise<number> {
  const outcome = await simulate(seed, (line) => console.log(line), isPlain ? plainScenario : undefined)
  console.log(describe(outcome))
  console.log(JSON.stringify({ verdicts: outcome.verdicts, blocks: outcome.blocks, ...outcome.extremes }))
  console.log(`trace ${outcome.trace}`)
  return outcome.violations.length === 0 ? 0 : 1
}

async function many(from: number, seeds: number, jobs: number, isPlain: boolean): Promise<number> {
  const startMs = now()
  const tally = new Tally()
  let shownMs = startMs
  let seed = from
  const next = () => (seed < from + seeds ? seed++ : undefined)
  try {
    const mostBytes = await runJobs(Math.min(jobs, seeds), {
      next,
      isPlain,
      onOutcome: (outcome) => {
        tally.add(outcome)
        if (now() - shownMs < PROGRESS_MS && tally.done < seeds) return
        shownMs = now()
        const rate = (tally.done / ((now() - startMs) / 1000)).toFixed(1)
        console.log(`${tally.done} of ${seeds} seeds, ${rate} a second, ${tally.failed} failed`)
      },
    })
    tally.tell()
    console.log(`${jobs} processes, memory of the largest: ${Math.round(mostBytes / 2 ** 20)} MiB`)
    return tally.failed === 0 ? 0 : 1
  } catch (error) {
    // Nothing that comes after it can be trusted.
    console.log(error instanceof Error ? error.message : String(error))
    return 2
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '0' },
      jobs: { type: 'string', default: String(availableParallelism()) },
      seed: { type: 'string' },
      plain: { type: 'boolean', default: false },
    },
  })
  const { seed, seeds, from, jobs, plain } = values
  if (seed !== undefined) return one(countOf('seed', seed), plain)
  return many(countOf('from', from), countOf('seeds', seeds, 1), countOf('jobs', jobs, 1), plain)
}

if (process.argv[2] === JOB) beJob()
else process.exitCode = await main()
