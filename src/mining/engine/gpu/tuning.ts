/** Tunes the parameters of a device once and stores them in a file. Child process only. */
import { createHash, randomBytes } from 'node:crypto'
import { Value } from '#ground/schema/typebox.ts'
import { readTuningFile, writeTuningFile } from '../cache-folder.ts'
import { type Batch, MAX_BATCH_NONCES, prepareWork, SEARCHED_WORK_BYTES } from './layout.ts'
import { type AdapterInfo, Tuning } from './messages.ts'
import type { BatchRunner } from './search-loop.ts'

export const DEFAULT_TUNING: Tuning = { workgroup: 64, trips: 16, split: false, noncesPerMs: 4096 }

const WORKGROUPS = [64, 128, 256]
const TRIPS = [4, 16, 64, 256]
/** Batches in a measurement, over two slots. */
const SAMPLE_BATCHES = 12
/** Tuning stops after this time, with the best values so far. */
const MAX_TUNING_MS = 4000

/** The key of an entry, valid only for this adapter, driver and shader. */
export function tuningKey(adapter: AdapterInfo, shader: string): string {
  const { backend, name, vendor, architecture, device, driver } = adapter
  const digest = createHash('sha256').update(shader).digest('hex').slice(0, 16)
  return [backend, name, vendor, architecture, device, driver, digest].join('|')
}

/** @returns null if the file has no usable entry, is missing or broken */
export function readTuning(file: string, key: string): Tuning | null {
  return readEntries(file).get(key) ?? null
}

/** @throws if the file cannot be written */
export function writeTuning(file: string, key: string, tuning: Tuning): void {
  const entries = readEntries(file)
  entries.delete(key)
  entries.set(key, tuning)
  writeTuningFile(file, entries)
}

/** The usable entries of a file; empty if it is missing or broken. */
function readEntries(file: string): Map<string, Tuning> {
  const entries = [...readTuningFile(file).entries]
  return new Map(entries.filter((entry): entry is [string, Tuning] => Value.Check(Tuning, entry[1])))
}

type DisposableRunner = BatchRunner & { destroy(): void }
type Sizes = Omit<Tuning, 'noncesPerMs'>

interface TuningLimits {
  readonly maxInvocations: number
  readonly batchMs: number
  /** Whether split sums may be faster (shaders/search.wgsl). */
  readonly mayGainBySplit: boolean
}

/**
 * Measures all values that the device allows.
 * @param create creates a runner with two slots
 */
export async function tune(
  create: (sizes: Sizes) => Promise<DisposableRunner>,
  { maxInvocations, batchMs, mayGainBySplit }: TuningLimits,
): Promise<Tuning> {
  const startMs = performance.now()
  const { nonces, tuning } = await firstTrial(await create(DEFAULT_TUNING), batchMs)
  let best = tuning
  const trial = async (sizes: Sizes) => {
    const runner = await create(sizes)
    await sample(runner, sizes.trips, nonces, 1)
    const noncesPerMs = nonces / (await sample(runner, sizes.trips, nonces, SAMPLE_BATCHES))
    runner.destroy()
    if (noncesPerMs > best.noncesPerMs) best = { ...sizes, noncesPerMs }
  }
  for (const workgroup of WORKGROUPS.filter((lanes) => lanes <= maxInvocations)) {
    for (const trips of TRIPS) {
      if (performance.now() - startMs < MAX_TUNING_MS) await trial({ workgroup, trips, split: false })
    }
  }
  if (mayGainBySplit) await trial({ ...best, split: true })
  return best
}

/** Finds the number of nonces that fill a batch, with the default values. */
async function firstTrial(runner: DisposableRunner, batchMs: number): Promise<{ nonces: number; tuning: Tuning }> {
  let nonces = 32_768
  let noncesPerMs = 0
  while (nonces < MAX_BATCH_NONCES && nonces < batchMs * (noncesPerMs || nonces)) {
    nonces *= 2
    noncesPerMs = nonces / (await sample(runner, DEFAULT_TUNING.trips, nonces, 2))
  }
  runner.destroy()
  return { nonces, tuning: { ...DEFAULT_TUNING, noncesPerMs } }
}

/** Milliseconds per batch, over two slots. */
async function sample(runner: BatchRunner, trips: number, nonces: number, batches: number): Promise<number> {
  const work = prepareWork(randomBytes(SEARCHED_WORK_BYTES), 0n)
  const batch: Batch = { low: 0, first: 0, high: 0, lanes: nonces / trips, trips, step: 1 }
  let left = batches
  const serve = async (slot: number) => {
    while (left-- > 0) await runner.run(slot, work, batch)
  }
  const startMs = performance.now()
  await Promise.all([serve(0), serve(1)])
  return Math.max(0.01, (performance.now() - startMs) / batches)
}
