/**
 * Simulates seeds in several processes, one seed after the other in each. A simulation replaces the clocks of its
 * process, so two simulations cannot share one.
 */
import { type ChildProcess, fork } from 'node:child_process'

/** Argument of a process that takes seeds from its parent. */
export const JOB = 'job'

/** A message of a process: the outcome of a seed, or a fault that ends the process. */
type Told<Outcome> = { readonly outcome: Outcome; readonly rssBytes: number } | { readonly fault: string }

export interface JobsOptions<Outcome> {
  /** Path of the compiled main.ts, which calls beJob. */
  readonly script: string
  /** @returns the next seed, or undefined if none is left */
  readonly next: () => number | undefined
  /** Passed to the simulation of each seed. Default: false. */
  readonly isPlain?: boolean
  readonly onOutcome: (outcome: Outcome) => void
}

/**
 * Runs this many processes until no seed is left. @returns the highest memory use (RSS) of a process, in bytes.
 * Rejects when a process exits early, with its seed and the reason, and ends the others.
 */
export async function runJobs<Outcome>(jobs: number, options: JobsOptions<Outcome>): Promise<number> {
  const children = new Set<ChildProcess>()
  try {
    return Math.max(...(await Promise.all(Array.from({ length: jobs }, () => runJob(children, options)))))
  } finally {
    for (const child of children) child.kill()
  }
}

function runJob<Outcome>(
  children: Set<ChildProcess>,
  { script, next, isPlain = false, onOutcome }: JobsOptions<Outcome>,
): Promise<number> {
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
    child.on('message', (told: Told<Outcome>) => {
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

/** The body of such a process. An uncaught error is a fault of the current seed and ends the process. */
export function beJob<Outcome>(simulate: (seed: number, isPlain: boolean) => Promise<Outcome>): void {
  const tell = (told: Told<Outcome>, then: () => void = () => undefined) => process.send?.(told, then)
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (error) => {
      tell({ fault: `${event}: ${error instanceof Error ? error.stack : String(error)}` }, () => process.exit(2))
    })
  }
  // For example about a listener leak.
  process.on('warning', ({ message }) => tell({ fault: `Node warns: ${message}` }, () => process.exit(2)))
  process.on('message', async ({ seed, isPlain }: { seed: number; isPlain: boolean }) => {
    tell({ outcome: await simulate(seed, isPlain), rssBytes: process.memoryUsage.rss() })
  })
}
