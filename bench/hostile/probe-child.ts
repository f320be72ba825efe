/**
 * Process that measures hostile commands, one after the other: `probe-child.js HEAP_MIB`, with a channel to its
 * parent, which sends the name of a command and receives what it took. A worker runs the commands; this thread measures them.
 * The process ends after a command that reaches the limits of the measurement, or throws.
 */
import { Worker } from 'node:worker_threads'
import { GAS_LIMIT } from './limits.ts'
import { forgetPeak, peakMiB } from './peak-memory.ts'
import type { Measured, ProbeLimits, ProbeTask } from './probe-process.ts'
import type { WorkerAnswer, WorkerTask } from './probe-worker.ts'

const TICK_MS = 25
/** The latest gas per second is that of so many ticks. */
const RECENT = 20

type Tick = readonly [cpuMs: number, gas: number]

const shared = new Float64Array(new SharedArrayBuffer(8))
const worker = new Worker(new URL('./probe-worker.js', import.meta.url), {
  workerData: { shared },
  resourceLimits: { maxOldGenerationSizeMb: Number(process.argv[2]), stackSizeMb: 4 },
})

/** The run of one command. */
class Measurement {
  readonly #limits: ProbeLimits
  readonly #before = process.cpuUsage()
  readonly #memoryBefore = peakMiB()
  readonly #ticks: Tick[] = []
  readonly #watch = setInterval(() => this.#look(), TICK_MS)

  constructor(limits: ProbeLimits) {
    this.#limits = limits
  }

  get #cpuMs(): number {
    const { user, system } = process.cpuUsage(this.#before)
    return (user + system) / 1000
  }

  #look(): void {
    const used = this.#cpuMs
    this.#ticks.push([used, shared[0] / 1000])
    const isTooLarge = peakMiB() > this.#limits.enoughMiB
    if (used < this.#limits.enoughMs && !isTooLarge) return
    tell(this.finish({ outcome: isTooLarge ? 'memory' : 'time', written: 0, thrown: null, isWhole: false }))
  }

  finish(rest: Pick<Measured, 'outcome' | 'written' | 'thrown' | 'isWhole'>): Measured {
    clearInterval(this.#watch)
    const [cpuMs, gas] = [this.#cpuMs, shared[0] / 1000]
    const estimatedMs = rest.isWhole ? cpuMs : this.#estimate(cpuMs, gas)
    return { ...rest, cpuMs, gas, estimatedMs, peakMiB: peakMiB(), memoryBefore: this.#memoryBefore }
  }

  /** Time to the end of the gas, from its latest rate. */
  #estimate(used: number, gas: number): number {
    const [pastMs, pastGas] = this.#ticks[Math.max(0, this.#ticks.length - RECENT)] ?? [0, 0]
    const rate = (gas - pastGas) / Math.max(1, used - pastMs)
    return rate <= 0 ? Number.MAX_SAFE_INTEGER : used + (GAS_LIMIT - gas) / rate
  }
}

let running: Measurement | null = null
let limits: ProbeLimits = { enoughMs: 0, enoughMiB: 0 }

function tell(measured: Measured): void {
  running = null
  const isOver = !measured.isWhole || measured.thrown !== null
  process.send?.(measured, () => {
    if (isOver) process.exit(0)
  })
}

const ask = (task: WorkerTask) => worker.postMessage(task)

worker.on('message', (answer: WorkerAnswer) => {
  if (!('ready' in answer)) {
    if (running !== null) tell(running.finish({ ...answer, thrown: null, isWhole: true }))
    return
  }
  forgetPeak()
  running = new Measurement(limits)
  ask({ run: true })
})
worker.on('error', (error) => {
  running ??= new Measurement(limits)
  const thrown = `${error.name}: ${error.message}`.slice(0, 120)
  tell(running.finish({ outcome: 'thrown', written: 0, thrown, isWhole: true }))
})

process.on('message', (task: ProbeTask) => {
  limits = task.limits
  ask({ prepare: task.name })
})
// The parent has ended.
process.on('disconnect', () => process.exit(0))
