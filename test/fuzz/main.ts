/**
 * The long run: `npm run fuzz -- --inputs N [--seed N] [--target NAME]`. Prints its progress, and at the end each
 * finding with target, seed and bytes. `npm run fuzz -- --help` explains the rest.
 */
import { Worker } from 'node:worker_threads'
import { Command, Option } from 'commander'
import { wholeNumber } from '../whole-number.ts'
import type { Finding } from './engine.ts'
import { targetNamed, targets } from './targets.ts'
import type { Order, Shared } from './worker.ts'

const THREADS = 2
const CHUNK_INPUTS = 5_000
/** Far beyond any limit of a target: the input hangs. */
const HANG_MS = 30_000
const MAX_HEAP_MIB = 1024
const PROGRESS_MS = 5_000
const MAX_SHARED_BYTES = 4 * 1024 * 1024

const { inputs, seed, target } = new Command('npm run fuzz --')
  .description(
    'Gives every reader of foreign bytes inputs that are nearly right. None may crash, hang or fill the memory.',
  )
  .option('--inputs <n>', 'how many, for all targets together', wholeNumber(1), 100_000)
  .option('--seed <n>', 'what the inputs are made of', wholeNumber(0), 1)
  .addOption(
    new Option('--target <name...>', 'only this reader; may be given again').choices(targets.map(({ name }) => name)),
  )
  .addHelpText('after', '\nExit code 0: no findings. 1: some. 2: the options are wrong.')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .parse()
  .opts<{ inputs: number; seed: number; target?: readonly string[] }>()
const chosen = target === undefined ? targets : target.map(targetNamed)

/** Inputs of all targets in chunks, in proportion to their shares. */
function ordersOf(): Order[] {
  const shares = chosen.reduce((sum, { share = 1 }) => sum + share, 0)
  return chosen.flatMap(({ name, share = 1 }) => {
    const count = Math.ceil((inputs * share) / shares)
    const starts = Array.from({ length: Math.ceil(count / CHUNK_INPUTS) }, (_, i) => i * CHUNK_INPUTS)
    return starts.map((from) => ({ target: name, seed, from, to: Math.min(count, from + CHUNK_INPUTS) }))
  })
}

const waiting = ordersOf()
const total = waiting.reduce((sum, { from, to }) => sum + to - from, 0)
/** Target and kind of outcome -> the first finding, and the number of repetitions. */
const findings = new Map<string, { readonly finding: Finding; times: number }>()
let finished = 0

function note(finding: Finding): void {
  const key = `${finding.target}: ${finding.what.replace(/\d+/g, 'N').slice(0, 160)}`
  const known = findings.get(key)
  if (known === undefined) {
    findings.set(key, { finding, times: 1 })
    process.stdout.write(`FOUND ${finding.target}, input ${finding.number}: ${finding.what}\n`)
    return
  }
  known.times++
}

/** Runs one thread after the other until no order is left. */
async function runThread(): Promise<void> {
  for (let order = waiting.shift(); order !== undefined; ) {
    order = await useThread(order)
  }
}

/** Runs orders in a thread. @returns the rest of an order that killed the thread, or undefined when all are done */
function useThread(first: Order): Promise<Order | undefined> {
  const shared: Shared = {
    state: new Float64Array(new SharedArrayBuffer(24)),
    input: new Uint8Array(new SharedArrayBuffer(MAX_SHARED_BYTES)),
  }
  const worker = new Worker(new URL('./worker.js', import.meta.url), {
    workerData: shared,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
  })
  let order = first
  return new Promise((resolve, reject) => {
    const watch = setInterval(() => {
      const [beganMs] = shared.state
      if (beganMs > 0 && Date.now() - beganMs > HANG_MS) end(`does not end within ${HANG_MS / 1000} s`)
    }, 1_000)
    const end = (why: string | null) => {
      clearInterval(watch)
      worker.removeAllListeners()
      const [, number, length] = shared.state
      if (why !== null) {
        const hex = Buffer.from(shared.input.slice(0, length)).toString('hex')
        note({ target: order.target, seed, number, what: why, hex })
        finished += number + 1 - order.from
      }
      const isLeft = why !== null && number + 1 < order.to
      void worker.terminate().then(() => resolve(isLeft ? { ...order, from: number + 1 } : waiting.shift()))
    }
    worker.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') end(`needs more than ${MAX_HEAP_MIB} MiB of heap`)
      else reject(error)
    })
    worker.on('message', ({ finding }: { finding?: Finding }) => {
      if (finding !== undefined) {
        note(finding)
        return
      }
      finished += order.to - order.from
      const next = waiting.shift()
      if (next === undefined) {
        end(null)
        return
      }
      order = next
      worker.postMessage(order)
    })
    worker.postMessage(order)
  })
}

const beganMs = performance.now()
const rate = () => Math.round((1000 * finished) / (performance.now() - beganMs))
const tell = () => {
  const seconds = Math.round((performance.now() - beganMs) / 1000)
  process.stdout.write(`${finished} of ${total} inputs, ${seconds} s, ${rate()} a second, ${findings.size} findings\n`)
}
process.stdout.write(`${total} inputs for ${chosen.length} targets, seed ${seed}\n`)
const progress = setInterval(tell, PROGRESS_MS)
await Promise.all(Array.from({ length: THREADS }, runThread))
clearInterval(progress)
tell()
for (const { finding, times } of findings.values()) {
  const { target, number, what, hex } = finding
  process.stdout.write(`\n${target}: ${what}\n  ${times} times, first: seed ${seed}, input ${number}\n  bytes ${hex}\n`)
}
process.exitCode = findings.size > 0 ? 1 : 0
