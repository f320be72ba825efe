/**
 * One thread: every kernel of this machine, `crypto.hash`, @noble/hashes and a plain midstate loop, in turn. Naive rows
 * are verified by their digests, kernels by their candidates, none of which may be missing or wrong.
 */
import { hash, randomBytes } from 'node:crypto'
import { blake2s } from '@noble/hashes/blake2.js'
import { readU32LE, writeU64LE } from '../src/ground/base/bytes.ts'
import { finish, midstate } from '../src/ground/chain/blake2s.ts'
import { kernelTuningFileOf } from '../src/mining/engine/cache-folder.ts'
import { type Kernel, SWEEP_NONCES, tailLayout } from '../src/mining/engine/cpu/kernel.ts'
import { chooseKernel } from '../src/mining/engine/cpu/kernels.ts'
import { type KernelName, kernelNames, type ScheduleName } from '../src/mining/engine/cpu/names.ts'
import { chooseNative, loadChosen } from '../src/mining/engine/cpu/native-choice.ts'
import type { NativeAddon } from '../src/mining/engine/cpu/native-kernel.ts'
import { rememberedSchedules } from '../src/mining/engine/cpu/native-schedule.ts'
import { countOperations, operationGraph } from '../src/mining/engine/cpu/operations.ts'
import { fastestSchedule, raceMsOf } from '../src/mining/engine/cpu/schedule-race.ts'
import { raceHere, testedSchedules } from '../src/mining/engine/cpu/tested-schedules.ts'
import { nonceOf } from '../src/mining/engine/range.ts'
import { PackageEnergy, packagesHere, type ReadPackages } from './energy.ts'
import { rankAmongMachines } from './machines.ts'
import { PortBound } from './ports.ts'
import { median, percentile, type Row, relativeTo } from './report.ts'
import type { Effort } from './suite.ts'
import { freshWork, UNREACHABLE } from './work.ts'

const SUITE = 'kernels'
const UNIT = 'crypto.hash'
const WORK_BYTES = 286
/** One nonce in 2^16 is a candidate: enough to verify by, too few to cost time. */
const BOUND = 0xffff
/** Number of @noble/hashes digests that verify crypto.hash; more would take too long. */
const JUDGED_NONCES = 20_000

interface Contender {
  readonly name: string
  /** Hashes until the deadline, at least once. @returns the number of hashes */
  readonly run: (deadlineMs: number) => number
  /** @throws if the results are wrong */
  readonly check: () => void
  readonly note?: string
  /** Measures the most hashes in a millisecond (ports.ts), or null if unknown. */
  readonly bound?: () => number | null
}

/** Windows of a kernel and of its bound, which alternate. Each is short, so that both have the same neighbours. */
const WINDOWS = 24
const WINDOW_MS = 1

export async function kernels(
  { sampleMs, rounds, isQuick }: Effort,
  tell: (line: string) => void,
  readCounters: ReadPackages = packagesHere,
): Promise<Row[]> {
  const energy = await PackageEnergy.open(readCounters)
  if (energy.problem !== null) tell(`J/MH: ${energy.problem}`)
  const addon = loadChosen(chooseNative())
  const bound = new PortBound(addon)
  const naives = [naive(UNIT, cryptoHash), naive('@noble/hashes', blake2s), plainLoop()]
  const contenders = [...naives, ...kernelContenders(addon, bound)]
  const rates = new Map<string, number[]>(contenders.map(({ name }) => [name, []]))
  const windows = new Map(contenders.map(({ name }) => [name, new Windows()]))
  // The first round is a warm-up for V8's optimizing compiler.
  for (let round = -1; round < rounds; round++) {
    for (const { name, run, bound: measureBound } of contenders) {
      await energy.start()
      const startMs = processorMs()
      const hashes = run(performance.now() + sampleMs)
      const perMs = hashes / (processorMs() - startMs)
      if (round < 0) continue
      await energy.end(name, hashes)
      rates.get(name)?.push(perMs / 1000)
      if (measureBound) windows.get(name)?.measure(run, measureBound)
    }
  }
  for (const { check } of contenders) check()
  const unit = rates.get(UNIT) ?? []
  const rows = contenders.map(({ name, note }): Row => {
    const samples = rates.get(name) ?? []
    const notes = [note, windows.get(name)?.note()].filter((text) => text).join(', ')
    const relative = relativeTo(UNIT, samples, unit)
    const joulesPerMegahash = energy.samplesOf(name)
    const optional = { ...(relative && { relative }), ...(notes && { note: notes }) }
    return { suite: SUITE, name, unit: 'MH/s', samples, joulesPerMegahash, ...optional }
  })
  if (!isQuick) {
    const medians = rows.map(({ name, samples }) => ({ name, rate: median(samples) }))
    const { name, rate } = medians.reduce((a, b) => (b.rate > a.rate ? b : a))
    for (const line of rankAmongMachines(rate, name)) tell(line)
  }
  return [...rows, ...portRows(bound)]
}

/** Processor time of this process, which other programs lengthen less than the time on the wall. */
function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Alternating windows of a kernel and of its bound. */
class Windows {
  readonly #rates: number[] = []
  readonly #bounds: number[] = []

  measure(run: Contender['run'], measureBound: () => number | null): void {
    for (let i = 0; i < WINDOWS; i++) {
      const bound = measureBound()
      if (bound === null) return
      const startMs = performance.now()
      const hashes = run(startMs + WINDOW_MS)
      this.#rates.push(hashes / (performance.now() - startMs))
      this.#bounds.push(bound)
    }
  }

  /** The share of the upper quartiles, and the middle half of the shares of single windows. */
  note(): string {
    if (this.#rates.length === 0) return ''
    const bound = percentile(this.#bounds, 0.75)
    const share = percentile(this.#rates, 0.75) / bound
    const single = this.#rates.map((rate, i) => rate / this.#bounds[i])
    const [low, high] = [0.25, 0.75].map((part) => Math.round(100 * percentile(single, part)))
    const mhs = (bound / 1000).toPrecision(3)
    const text = `${Math.round(100 * share)} % (${low} to ${high}) of the bound of ${mhs} MH/s`
    return share > 1 ? `${text}: a defect of the measurement` : text
  }
}

/** A row for each width of this processor. */
function portRows(bound: PortBound): Row[] {
  const text = (value: number) => value.toFixed(2)
  return [...bound.ports].map(([width, ports]) => {
    const { add, xor, rotate16, rotate12, rotate8, rotate7, mix } = ports
    const latencies = [ports.addLatency, ports.xorLatency, ports.rotateLatency].map((perCycle) => text(1 / perCycle))
    const note =
      `add ${text(add)}, xor ${text(xor)}, rotate by 16 ${text(rotate16)}, 12 ${text(rotate12)}, 8 ${text(rotate8)}, ` +
      `7 ${text(rotate7)}; latency of add, xor, rotate by 7: ${latencies.join(', ')} cycles`
    return { suite: SUITE, name: `ports ${width}`, unit: 'operations/cycle', samples: [mix], note }
  })
}

const cryptoHash = (bytes: Uint8Array): Uint8Array => hash('blake2s256', bytes, 'buffer')

/**
 * Hashes all bytes for each nonce, with minimal overhead. Digests are compared with those of the other implementation.
 */
function naive(name: string, digest: (bytes: Uint8Array) => Uint8Array): Contender {
  const judge = digest === cryptoHash ? blake2s : cryptoHash
  const work = freshWork(UNREACHABLE)
  const nonce = new DataView(work.buffer, WORK_BYTES - 8)
  const sumOf = (hashes: typeof digest, count: number) => {
    let sum = 0
    for (let n = 0; n < count; n++) {
      nonce.setUint32(0, n, true)
      sum += hashes(work)[31]
    }
    return sum
  }
  let tried = 0
  let sum = 0
  return {
    name,
    run: (deadlineMs) => {
      const before = tried
      do {
        for (let i = 0; i < 32; i++) {
          nonce.setUint32(0, tried++, true)
          sum += digest(work)[31]
        }
      } while (performance.now() < deadlineMs)
      return tried - before
    },
    check: () => {
      const total = sumOf(cryptoHash, tried)
      const sample = Math.min(tried, JUDGED_NONCES)
      if (total !== sum || sumOf(judge, sample) !== sumOf(digest, sample)) throw new Error(`${name}: wrong digests`)
    },
  }
}

/** Hashes only the last block, with the compression function as in the standard. */
function plainLoop(): Contender {
  const work = freshWork(UNREACHABLE)
  const mid = midstate(work)
  const tail = mid.tail.slice()
  let swept = 0
  let sum = 0
  return {
    name: 'midstate',
    run: (deadlineMs) => {
      let hashes = 0
      do {
        for (let i = 0; i < 64; i++) {
          tail[7] = swept++ & 0xffff
          sum = (sum + finish(mid, tail)[7]) >>> 0
        }
        hashes += 64
      } while (performance.now() < deadlineMs)
      return hashes
    },
    check: () => {
      let expected = 0
      for (let n = 0; n < swept; n++) {
        writeU64LE(work, WORK_BYTES - 8, nonceOf(0, 0, n & 0xffff))
        expected = (expected + readU32LE(cryptoHash(work), 28)) >>> 0
      }
      if (expected !== sum) throw new Error('midstate: wrong digests')
    },
  }
}

/** The order that a miner with one thread would choose. */
function fastestHere(name: KernelName, kernels: ReadonlyMap<ScheduleName, Kernel>): ScheduleName {
  return fastestSchedule('halves', [raceHere(kernels, () => performance.now(), raceMsOf(name, true))])
}

/** Every kernel with the order that a miner would choose, then the other orders. */
function kernelContenders(addon: NativeAddon, bound: PortBound): Contender[] {
  const operations = countOperations(operationGraph(tailLayout(WORK_BYTES))).total
  const file = kernelTuningFileOf(process.env, process.platform)
  const { orders } = rememberedSchedules(addon, file)
  return kernelNames.flatMap((name) => {
    const plain = chooseKernel(WORK_BYTES, name, randomBytes, new Set(), () => addon)
    if (plain.kernel === null) return []
    const { kernels, refused } = testedSchedules(name, addon, randomBytes)
    const failures = [...plain.refused, ...refused]
    if (failures.length > 0) throw new Error(failures.join('; '))
    const chosen = orders[name] ?? fastestHere(name, kernels)
    const chosenFirst = [...kernels].sort(([a], [b]) => Number(b === chosen) - Number(a === chosen))
    return chosenFirst.map(([order, kernel]) => {
      const notes = [`${operations} operations a hash`, ...(kernels.size > 1 ? [`order ${order}`] : [])]
      const label = order === chosen ? name : `${name} ${order}`
      return { ...contenderOf(kernel, notes.join(', ')), name: label, bound: () => bound.window(name, order) }
    })
  })
}

/** Sweeps slice after slice. Every candidate is verified, and the judge searches the first slices too. */
function contenderOf(kernel: Kernel, note: string): Contender {
  const work = freshWork(UNREACHABLE)
  const mid = midstate(work)
  const found: { readonly middle: number; readonly chunk: number }[] = []
  let middle = 0
  let from = 0
  kernel.setWork(mid.state, mid.tail, BOUND)
  return {
    name: kernel.name,
    note,
    run: (deadlineMs) => {
      let hashes = 0
      do {
        const to = Math.min(from + kernel.sliceNonces, SWEEP_NONCES)
        const chunk = kernel.sweep(0, middle, from, to)
        if (chunk < to) found.push({ middle, chunk })
        const end = chunk < to ? chunk + kernel.lanes : to
        hashes += end - from
        from = end === SWEEP_NONCES ? 0 : end
        if (from === 0) middle++
      } while (performance.now() < deadlineMs)
      return hashes
    },
    check: () => checkCandidates(kernel, work, found, middle),
  }
}

function checkCandidates(
  kernel: Kernel,
  work: Uint8Array,
  found: readonly { readonly middle: number; readonly chunk: number }[],
  sweeps: number,
): void {
  const topWord = (middle: number, high: number) => {
    writeU64LE(work, WORK_BYTES - 8, nonceOf(0, middle, high))
    return readU32LE(cryptoHash(work), 28)
  }
  for (const { middle, chunk } of found) {
    const tops = Array.from({ length: kernel.lanes }, (_, lane) => topWord(middle, chunk + lane))
    if (!tops.some((top) => top <= BOUND)) throw new Error(`${kernel.name}: a candidate does not solve`)
  }
  // No candidate may be missing: the first sweep must match exactly, the others by their number (one per sweep).
  const first = new Set<number>()
  for (let high = 0; high < SWEEP_NONCES; high++) {
    if (topWord(0, high) <= BOUND) first.add(high - (high % kernel.lanes))
  }
  const own = found.filter(({ middle }) => middle === 0).map(({ chunk }) => chunk)
  if (sweeps > 0 && own.join() !== [...first].join()) throw new Error(`${kernel.name}: missed a candidate`)
  if (Math.abs(found.length - sweeps) > 6 * Math.sqrt(sweeps + 1)) {
    throw new Error(`${kernel.name}: ${found.length} candidates in ${sweeps} sweeps`)
  }
}
