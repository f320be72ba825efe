/**
 * The long check of gas: `npm run check:gas -- --programs N [--seed N]`. Random programs run in our evaluator and in a
 * model that was written from the price list alone. Prints how many agree, what they reached, and shrunk programs that
 * differ.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { Command } from 'commander'
import { wholeNumber } from '../../whole-number.ts'
import { addResults, type CheckOrder, type CheckResult, NOTHING } from './check.ts'
import { describeProgram } from './describe.ts'
import { makeProgram } from './generate/program.ts'
import { shrinkProgram } from './shrink.ts'

const CHUNK_PROGRAMS = 250
const PROGRESS_PROGRAMS = 5_000
/** Differences that are shrunk and shown. */
const SHOWN = 3

interface Options {
  readonly programs: number
  readonly seed: number
  readonly threads: number
  readonly reached: boolean
}

const { programs, seed, threads, reached } = new Command('npm run check:gas --')
  .description('Compares the gas of random programs, computed by the evaluator and by a second model, to the milligas.')
  .option('--programs <n>', 'how many', wholeNumber(1), 10_000)
  .option('--seed <n>', 'seed of the first program; the next ones follow', wholeNumber(0), 1)
  .option('--threads <n>', 'threads', wholeNumber(1), availableParallelism())
  .option('--no-reached', 'leave out the list of natives, forms and look-ups with their numbers')
  .addHelpText('after', '\nExit code 0: all agree. 1: some differ. 2: the options are wrong.')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .parse()
  .opts<Options>()

const waiting: CheckOrder[] = Array.from({ length: Math.ceil(programs / CHUNK_PROGRAMS) }, (_, i) => ({
  from: seed + i * CHUNK_PROGRAMS,
  to: seed + Math.min(programs, (i + 1) * CHUNK_PROGRAMS),
}))
let all: CheckResult = NOTHING

function note(result: CheckResult): void {
  const before = Math.floor(all.programs / PROGRESS_PROGRAMS)
  all = addResults(all, result)
  for (const { seed: of, difference } of result.found) {
    process.stdout.write(`DIFFERS seed ${of}: ${difference.kind}, ${difference.evaluator} and ${difference.model}\n`)
  }
  if (Math.floor(all.programs / PROGRESS_PROGRAMS) === before) return
  process.stdout.write(`${all.programs} programs, ${all.found.length} differ\n`)
}

/** Gives a thread one range after the other until none is left. */
function runThread(): Promise<void> {
  const worker = new Worker(new URL('./worker.js', import.meta.url))
  return new Promise((resolve, reject) => {
    const next = (): void => {
      const order = waiting.shift()
      if (order === undefined) void worker.terminate().then(() => resolve())
      else worker.postMessage(order)
    }
    worker.on('error', reject)
    worker.on('message', (result: CheckResult) => {
      note(result)
      next()
    })
    next()
  })
}

await Promise.all(Array.from({ length: threads }, runThread))

if (reached) {
  for (const [what, times] of [...all.reached].sort()) process.stdout.write(`${String(times).padStart(9)} ${what}\n`)
}
for (const { seed: of, difference } of all.found.slice(0, SHOWN)) {
  const small = shrinkProgram(makeProgram(of), difference)
  process.stdout.write(`\nseed ${of}, made smaller:\n${describeProgram(small.program)}\n`)
  const { transaction, kind, evaluator, model } = small.difference
  process.stdout.write(`transaction ${transaction}, ${kind}: evaluator ${evaluator}, model ${model}\n`)
}
const agree = all.programs - all.found.length
process.stdout.write(
  `${agree} of ${all.programs} programs agree: ${all.transactions} transactions, ${all.failures} of them fail in both\n`,
)
process.exitCode = all.found.length === 0 ? 0 : 1
