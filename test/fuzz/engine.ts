/** Runs inputs through a target and judges the outcomes. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { inputOf } from './mutate.ts'
import { isNewcutError, MAX_MS, type Reader, type Target } from './target.ts'

/** An outcome that should not have happened. */
export interface Finding {
  readonly target: string
  readonly seed: number
  /** Number of the input; -1 for a kept input. */
  readonly number: number
  readonly what: string
  /** The input in hex. */
  readonly hex: string
}

/** The most heap that a target may retain over all inputs between two measurements. */
const MAX_GROWTH_BYTES = 64 * 1024 * 1024
/** Inputs before the first measurement: schemas are compiled, and caches fill. */
const WARM_UP_INPUTS = 200

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Bytes in use after garbage collection. */
function heapBytes(): number {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Runs one input. @returns the fault of the outcome, or null */
export async function judge(reader: Reader, bytes: Uint8Array, maxMs = MAX_MS): Promise<string | null> {
  const [error, ms] = await timed(reader, bytes)
  if (error !== null) return error
  if (ms <= maxMs) return null
  // Measured again: other programs or garbage collection may have taken the time.
  const [, again] = await timed(reader, bytes)
  const [, third] = again <= maxMs ? [null, again] : await timed(reader, bytes)
  const least = Math.min(ms, again, third)
  return least <= maxMs ? null : `takes ${Math.round(least)} ms, may take ${maxMs} ms`
}

async function timed(reader: Reader, bytes: Uint8Array): Promise<readonly [string | null, number]> {
  const { read, allows = isNewcutError } = reader
  const [beganMs, before] = [performance.now(), process.cpuUsage()]
  let wrong: string | null = null
  try {
    // Readers may modify their input.
    await read(bytes.slice())
  } catch (error) {
    if (!allows(error)) wrong = describe(error)
  }
  const tookMs = performance.now() - beganMs
  const { user, system } = process.cpuUsage(before)
  // The processor time, if less: other programs may have had the processor meanwhile.
  return [wrong, Math.min(tookMs, (user + system) / 1000)]
}

/** The error with the first line of its stack that is in this project's code. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return `throws ${String(error)}`
  const place = error.stack?.split('\n').find((line) => /dist\/src|\/src\//.test(line))
  return `${error.name}: ${error.message.slice(0, 200)}${place === undefined ? '' : ` (${place.trim()})`}`
}

/** The inputs of a target to run. */
export interface Chunk {
  readonly seed: number
  readonly from: number
  readonly to: number
}

/** Callbacks during a run. */
export interface Watcher {
  /** Called before each input. */
  readonly onInput?: (number: number, bytes: Uint8Array) => void
  readonly onFinding: (finding: Finding) => void
}

/** Runs inputs of a target. */
export async function runChunk(target: Target, { seed, from, to }: Chunk, watcher: Watcher): Promise<void> {
  const reader = await target.open()
  const { name, maxMs } = target
  let bytes: Uint8Array = new Uint8Array()
  let number = from
  const found = (what: string, input = bytes) => {
    watcher.onFinding({ target: name, seed, number, what, hex: Buffer.from(input).toString('hex') })
  }
  const onRejection = (error: unknown) => found(`unhandled rejection: ${describe(error)}`)
  const onException = (error: unknown) => found(`uncaught exception: ${describe(error)}`)
  process.on('unhandledRejection', onRejection)
  process.on('uncaughtException', onException)
  try {
    let heapBefore: number | null = null
    // Shrinking takes many runs, and one small example is enough to understand a fault.
    let hasShrunk = false
    for (; number < to; number++) {
      if (number === from + WARM_UP_INPUTS) heapBefore = heapBytes()
      bytes = inputOf(reader.seeds, name, seed, number)
      watcher.onInput?.(number, bytes)
      const wrong = await judge(reader, bytes, maxMs)
      if (wrong !== null) {
        found(wrong, hasShrunk ? bytes : await smallest(reader, bytes, wrong, maxMs))
        hasShrunk = true
      }
      // Unhandled rejections surface when the event loop turns.
      if (number % 64 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await new Promise((resolve) => setImmediate(resolve))
    const growth = heapBefore === null ? 0 : heapBytes() - heapBefore
    if (growth > MAX_GROWTH_BYTES) {
      found(`keeps ${Math.round(growth / 1024 / 1024)} MiB after ${to - from} inputs`, new Uint8Array())
    }
  } finally {
    await reader.close?.()
    process.off('unhandledRejection', onRejection)
    process.off('uncaughtException', onException)
  }
}

const MAX_TRIES = 100

/** A shorter input with the same outcome. Only for errors, because durations vary. */
async function smallest(reader: Reader, bytes: Uint8Array, wrong: string, maxMs?: number): Promise<Uint8Array> {
  let best = bytes
  if (wrong.startsWith('takes')) return best
  let tries = 0
  for (let step = Math.ceil(best.length / 2); step >= 1 && tries < MAX_TRIES; step = Math.floor(step / 2)) {
    for (let at = 0; at < best.length && tries < MAX_TRIES; tries++) {
      const shorter = Buffer.concat([best.subarray(0, at), best.subarray(at + step)])
      if ((await judge(reader, shorter, maxMs)) === wrong) best = shorter
      else at += step
    }
  }
  return best
}
