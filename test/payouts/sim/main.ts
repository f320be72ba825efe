/**
 * Runs many seeds of the pool: `npm run sim:pool -- --seeds 100000 [--from N] [--jobs N]`, or one with a trace: `npm run
 * sim:pool -- --seed N`.
 */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { beJob, JOB, runJobs } from '../../sim/jobs.ts'
import { wholeNumber } from '../../whole-number.ts'
import { type PoolOutcome, simulatePool } from './simulation.ts'

const PROGRESS_MS = 10_000
const now = performance.now.bind(performance)

interface Options {
  readonly seeds: number
  readonly from: number
  readonly jobs: number
  readonly seed?: number
}

async function one(seed: number): Promise<number> {
  const outcome = await simulatePool(seed, (line) => console.log(line))
  console.log(JSON.stringify(outcome, null, 2))
  return outcome.violations.length === 0 ? 0 : 1
}

async function many(from: number, seeds: number, jobs: number): Promise<number> {
  const startMs = now()
  const counts = new Map<string, number>()
  let [seed, done, failed, shownMs] = [from, 0, 0, startMs]
  await runJobs<PoolOutcome>(Math.min(jobs, seeds), {
    script: fileURLToPath(import.meta.url),
    next: () => (seed < from + seeds ? seed++ : undefined),
    onOutcome: (outcome) => {
      done++
      for (const [name, count] of Object.entries(outcome.counts)) counts.set(name, (counts.get(name) ?? 0) + count)
      if (outcome.violations.length > 0) {
        failed++
        console.log(`seed ${outcome.seed}: ${outcome.violations[0]}`)
      }
      if (now() - shownMs < PROGRESS_MS) return
      shownMs = now()
      console.log(`${done} of ${seeds} seeds, ${failed} failed`)
    },
  })
  const sorted = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
  console.log(sorted.map(([name, count]) => `${count} ${name}`).join(', '))
  console.log(`${done} seeds in ${((now() - startMs) / 1000).toFixed(0)} s, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

async function main(): Promise<number> {
  const program = new Command('npm run sim:pool --')
    .description('Runs a small pool on a virtual clock, with faults of its node, disk, clock and process.')
    .option('--seeds <n>', 'how many seeds', wholeNumber(1), 1000)
    .option('--from <n>', 'the first of them', wholeNumber(0), 0)
    .option('--jobs <n>', 'processes', wholeNumber(1), availableParallelism())
    .option('--seed <n>', 'one seed, with a trace', wholeNumber(0))
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
    .parse()
  const { seed, seeds, from, jobs } = program.opts<Options>()
  return seed === undefined ? many(from, seeds, jobs) : one(seed)
}

if (process.argv[2] === JOB) beJob((seed) => simulatePool(seed))
else process.exitCode = await main()
