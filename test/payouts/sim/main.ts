/**
 * Runs many seeds of the pool: `npm run sim:pool -- --seeds 100000 [--from N] [--jobs N]`, or one with a trace: `npm run
 * sim:pool -- --seed N`.
 */
import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { wholeNumber } from '../../whole-number.ts'
import { type PoolOutcome, simulatePool } from './simulation.ts'

/** Seeds of one message of a job. */
const CHUNK = 50
const PROGRESS_MS = 10_000
const now = performance.now.bind(performance)

interface Slice {
  readonly from: number
  readonly seeds: number
}

async function one(seed: number): Promise<number> {
  const outcome = await simulatePool(seed, (line) => console.log(line))
  console.log(JSON.stringify(outcome, null, 2))
  return outcome.violations.length === 0 ? 0 : 1
}

/** Simulates slices that the parent sends. */
function beJob(): void {
  process.on('message', async ({ from, seeds }: Slice) => {
    const outcomes: PoolOutcome[] = []
    for (let seed = from; seed < from + seeds; seed++) outcomes.push(await simulatePool(seed))
    process.send?.(outcomes)
  })
}

async function many({ from, seeds }: Slice, jobs: number): Promise<number> {
  const startMs = now()
  const counts = new Map<string, number>()
  const failed: PoolOutcome[] = []
  let [next, done, shownMs] = [from, 0, startMs]
  const take = (outcomes: readonly PoolOutcome[]) => {
    for (const outcome of outcomes) {
      done++
      if (outcome.violations.length > 0) {
        failed.push(outcome)
        console.log(`seed ${outcome.seed}: ${outcome.violations[0]}`)
      }
      for (const [name, count] of Object.entries(outcome.counts)) counts.set(name, (counts.get(name) ?? 0) + count)
    }
    if (now() - shownMs < PROGRESS_MS) return
    shownMs = now()
    console.log(`${done} of ${seeds} seeds, ${failed.length} failed`)
  }
  const job = () =>
    new Promise<void>((resolve, reject) => {
      const child = fork(fileURLToPath(import.meta.url), ['job'])
      const give = () => {
        const slice = { from: next, seeds: Math.min(CHUNK, from + seeds - next) }
        if (slice.seeds <= 0) {
          child.kill()
          resolve()
          return
        }
        next += slice.seeds
        child.send(slice)
      }
      child.on('message', (outcomes: PoolOutcome[]) => {
        take(outcomes)
        give()
      })
      child.on('exit', (code) => (code === null ? resolve() : reject(new Error(`a job ended with code ${code}`))))
      give()
    })
  await Promise.all(Array.from({ length: jobs }, job))
  const sorted = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
  console.log(sorted.map(([name, count]) => `${count} ${name}`).join(', '))
  const seconds = (now() - startMs) / 1000
  console.log(`${done} seeds in ${seconds.toFixed(0)} s, ${failed.length} failed`)
  return failed.length === 0 ? 0 : 1
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
  const { seed, seeds, from, jobs } = program.opts<Slice & { readonly seed?: number; readonly jobs: number }>()
  return seed === undefined ? many({ from, seeds }, jobs) : one(seed)
}

if (process.argv[2] === 'job') beJob()
else process.exitCode = await main()
