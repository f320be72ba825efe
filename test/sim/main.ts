/**
 * Runs many seeds: `npm run sim -- --seeds 100000 [--from N] [--jobs N]`, or one with a trace: `npm run sim -- --seed
 * N`. `npm run sim -- --help` explains the rest.
 */
import { availableParallelism } from 'node:os'
import { Command } from 'commander'
import { wholeNumber } from '../whole-number.ts'
import { beJob, JOB, runJobs } from './jobs.ts'
import { plainScenario } from './scenario.ts'
import { type Outcome, simulate } from './simulation.ts'
import { describe, Tally } from './tally.ts'

const PROGRESS_MS = 5_000
const now = performance.now.bind(performance)

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
    const mostBytes = await runJobs<Outcome>(Math.min(jobs, seeds), {
      script: process.argv[1],
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
    // Later results cannot be trusted.
    console.log(error instanceof Error ? error.message : String(error))
    return 2
  }
}

interface Options {
  readonly seeds: number
  readonly from: number
  readonly jobs: number
  readonly seed?: number
  readonly plain?: boolean
}

async function main(): Promise<number> {
  const program = new Command('npm run sim --')
    .description('Runs the miner and the embedded node on a virtual clock, with faults between them: one run a seed.')
    .option('--seeds <n>', 'how many seeds', wholeNumber(1), 1000)
    .option('--from <n>', 'the first of them', wholeNumber(0), 0)
    .option('--jobs <n>', 'processes', wholeNumber(1), availableParallelism())
    .option('--seed <n>', 'one seed, with a trace of all that happens', wholeNumber(0))
    .option('--plain', 'one node, a disk that is well, and a miner that nobody kills')
    .addHelpText(
      'after',
      '\nExit code 0: no run broke a rule. 1: some did. 2: the runs could not be made, or the options are wrong.',
    )
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
    .parse()
  const { seed, seeds, from, jobs, plain = false } = program.opts<Options>()
  return seed === undefined ? many(from, seeds, jobs, plain) : one(seed, plain)
}

if (process.argv[2] === JOB) beJob((seed, isPlain) => simulate(seed, undefined, isPlain ? plainScenario : undefined))
else process.exitCode = await main()
