/**
 * Process of one hostile command: `probe-child.js NAME LIMITS`. A worker runs the command; this thread measures it, and
 * ends the process when the limits of the measurement are reached.
 */
import { Worker } from 'node:worker_threads'
import { GAS_LIMIT } from './limits.ts'
import type { Measured, ProbeLimits } from './probe.ts'

const [name, limits] = process.argv.slice(2)
const { enoughMs, enoughMiB } = JSON.parse(limits) as ProbeLimits
const TICK_MS = 25
/** The latest gas per second is that of so many ticks. */
const RECENT = 20

const shared = new Float64Array(new SharedArrayBuffer(8))
const worker = new Worker(new URL('./probe-worker.js', import.meta.url), {
  workerData: { name, shared },
  resourceLimits: { maxOldGenerationSizeMb: enoughMiB, stackSizeMb: 4 },
})
let before = process.cpuUsage()
const ticks: (readonly [cpuMs: number, gas: number])[] = []
let memoryBefore = 0
let watch: NodeJS.Timeout | null = null

function cpuMs(): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const peakMiB = () => process.resourceUsage().maxRSS / 1024

function tell(rest: Pick<Measured, 'outcome' | 'written' | 'thrown' | 'isWhole'>): void {
  const used = cpuMs()
  const gas = shared[0] / 1000
  const measured: Measured = {
    ...rest,
    cpuMs: used,
    gas,
    estimatedMs: estimate(used, gas, rest.isWhole),
    peakMiB: peakMiB(),
    memoryBefore,
  }
  process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit(0))
  if (watch !== null) clearInterval(watch)
}

/** Time to the end of the gas, from its latest rate. */
function estimate(used: number, gas: number, isWhole: boolean): number {
  if (isWhole) return used
  const [pastMs, pastGas] = ticks[Math.max(0, ticks.length - RECENT)] ?? [0, 0]
  const rate = (gas - pastGas) / Math.max(1, used - pastMs)
  return rate <= 0 ? Number.MAX_SAFE_INTEGER : used + (GAS_LIMIT - gas) / rate
}

worker.on('message', (message: { ready?: true; outcome: string; written: number }) => {
  if (message.ready === undefined) return tell({ ...message, thrown: null, isWhole: true })
  memoryBefore = peakMiB()
  before = process.cpuUsage()
  watch = setInterval(() => {
    const used = cpuMs()
    ticks.push([used, shared[0] / 1000])
    const isTooLarge = peakMiB() > enoughMiB
    if (used < enoughMs && !isTooLarge) return
    tell({ outcome: isTooLarge ? 'memory' : 'time', written: 0, thrown: null, isWhole: false })
  }, TICK_MS)
  worker.postMessage('go')
})
worker.on('error', (error) => {
  tell({ outcome: 'thrown', written: 0, thrown: `${error.name}: ${error.message}`.slice(0, 120), isWhole: true })
})
