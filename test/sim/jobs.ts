/**
 * Seeds in several processes: each simulates one seed after the other, and is given the next when it has told of the
 * last. A simulation stands in for the clocks of its process, so that two cannot share one.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { plainScenario } from './scenario.ts'
import { type Outcome, simulate } from './simulation.ts'

/** Given to a process that is to take seeds, in place of options. */
export const JOB = 'job'

/** What a process tells: how a seed went, or what went wrong in a way that ends the process. */
type Told = { readonly outcome: Outcome; readonly rssBytes: number } | { readonly fault: string }

export interface JobsOptions {
  /** The compiled main.ts. */
  readonly script: string
  /** Seeds in turn; undefined: no more. */
  readonly next: () => number | undefined
  readonly isPlain: boolean
  readonly onOutcome: (outcome: Outcome) => void
}

/**
 * Runs so many processes to the end of the seeds. Resolves with the most memory that one of them had, bytes. Rejects
 * when one ends before it is told to, with the seed and why; the others are ended then.
 */
export async function runJobs(jobs: number, options: JobsOptions): Promise<number> {
  const children = new Set<ChildProcess>()
  try {
    return Math.max(...(await Promise.all(Array.from({ length: jobs }, () => runJob(children, options)))))
  } finally {
    for (const child of children) child.kill()
  }
}

function runJob(children: Set<ChildProcess>, { script, next, isPlain, onOutcome }: JobsOptions): Promise<number> {
  const child = fork(script, [JOB])
  children.add(child)
  let mostBytes = 0
  return new Promise((resolve, reject) => {
    let seed: number | undefined
    const give = () => {
      seed = next()
      if (seed === undefined) child.disconnect()
      else child.send({ seed, isPlain })
    }
    child.on('message', (told: Told) => {
      if ('fault' in told) {
        reject(new Error(`seed ${seed}: ${told.fault}`))
        return
      }
      mostBytes = Math.max(mostBytes, told.rssBytes)
      onOutcome(told.outcome)
      give()
    })
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      children.delete(child)
      if (seed === undefined) resolve(mostBytes)
      else reject(new Error(`seed ${seed}: its process ended with ${signal ?? code}`))
    })
    give()
  })
}

/** What such a process does. What nobody catches is a fault of the seed that runs, and the end. */
export function beJob(): void {
  const tell = (told: Told, then: () => void = () => undefined) => process.send?.(told, then)
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (error) => {
      tell({ fault: `${event}: ${error instanceof Error ? error.stack : String(error)}` }, () => process.exit(2))
    })
  }
  // Listeners that pile up, for example.
  process.on('warning', ({ message }) => tell({ fault: `Node warns: ${message}` }, () => process.exit(2)))
  process.on('message', async ({ seed, isPlain }: { seed: number; isPlain: boolean }) => {
    const outcome = await simulate(seed, undefined, isPlain ? plainScenario : undefined)
    tell({ outcome, rssBytes: process.memoryUsage.rss() })
  })
}
