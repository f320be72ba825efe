/**
 * One thread: every kernel of this machine, `crypto.hash`, @noble/hashes and a plain midstate loop, in turn. Naive rows
 * are verified by their digests, kernels by their candidates, none of which may be missing or wrong.
 */
import { hash, randomBytes } from 'node:crypto'
import { cpus } from 'node:os'
import { blake2s } from '@noble/hashes/blake2.js'
import { finish, midstate } from '../src/core/blake2s.ts'
import { readU32LE, writeU64LE } from '../src/core/bytes.ts'
import { type Kernel, SWEEP_NONCES, tailLayout } from '../src/engine/cpu/kernel.ts'
import { chooseKernel } from '../src/engine/cpu/kernels.ts'
import { kernelNames } from '../src/engine/cpu/names.ts'
import { countOperations, operationGraph } from '../src/engine/cpu/operations.ts'
import { nonceOf } from '../src/engine/range.ts'
import { PackageEnergy, packagesHere, type ReadPackages } from './energy.ts'
import { type Row, relativeTo } from './report.ts'
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
  /** Throws if the results are wrong. */
  readonly check: () => void
  readonly note?: string
}

export async function kernels(
  { sampleMs, rounds }: Effort,
  tell: (line: string) => void,
  readCounters: ReadPackages = packagesHere,
): Promise<Row[]> {
  const energy = await PackageEnergy.open(readCounters)
  if (energy.problem !== null) tell(`J/MH: ${energy.problem}`)
  const contenders = [naive(UNIT, cryptoHash), naive('@noble/hashes', blake2s), plainLoop(), ...kernelContenders()]
  const rates = new Map<string, number[]>(contenders.map(({ name }) => [name, []]))
  // The first round is a warm-up for V8's optimizing compiler.
  for (let round = -1; round < rounds; round++) {
    for (const { name, run } of contenders) {
      await energy.start()
      const startMs = performance.now()
      const hashes = run(startMs + sampleMs)
      const rate = hashes / (performance.now() - startMs) / 1000
      if (round >= 0) await energy.end(name, hashes)
      if (round >= 0) rates.get(name)?.push(rate)
    }
  }
  for (const { check } of contenders) check()
  const unit = rates.get(UNIT) ?? []
  return contenders.map(({ name, note }) => {
    const samples = rates.get(name) ?? []
    const share = boundShare(name, Math.max(...samples))
    const notes = [note, share].filter((text) => text !== undefined).join(', ')
    return {
      suite: SUITE,
      name,
      unit: 'MH/s',
      samples,
      relative: relativeTo(UNIT, samples, unit),
      joulesPerMegahash: energy.of(name),
      ...(notes && { note: notes }),
    }
  }) as Row[]
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

function kernelContenders(): Contender[] {
  const operations = countOperations(operationGraph(tailLayout(WORK_BYTES))).total
  return kernelNames.flatMap((name) => {
    const { kernel } = chooseKernel(WORK_BYTES, name, (bytes) => randomBytes(bytes))
    return kernel === null ? [] : [contenderOf(kernel, `${operations} operations a hash`)]
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

/**
 * Instructions per hash and lane width of each kernel. Without a rotate instruction, byte rotations are one shuffle.
 */
const instructionsPerHash: Readonly<Record<string, { readonly rotate: number; readonly bits: number }>> = {
  'native-avx512': { rotate: 1, bits: 512 },
  'native-avx2': { rotate: 2, bits: 256 },
  'native-sse41': { rotate: 2, bits: 128 },
  wasm: { rotate: 2, bits: 128 },
  js: { rotate: 1, bits: 32 },
}

/** The fastest sample relative to a CPU that issues only the operations of the graph. Known CPUs only. */
function boundShare(name: string, megahashes: number): string | undefined {
  const shape = instructionsPerHash[name]
  const model = cpus()[0]?.model ?? ''
  if (shape === undefined || process.arch !== 'x64' || !/AMD|Intel/.test(model)) return undefined
  const { total, rotates } = countOperations(operationGraph(tailLayout(WORK_BYTES)))
  const instructions = total + rotates * (shape.rotate - 1)
  // Operations per cycle: four on Zen 2 to 5, three on Intel cores; two at 512 bits, but four on Zen 5.
  const perCycle = shape.bits === 512 ? 2 : /AMD/.test(model) ? 4 : 3
  const clockMHz = estimatedClockMHz()
  const bound = (clockMHz * perCycle * Math.max(1, shape.bits / 32)) / instructions
  return `${Math.round((100 * megahashes) / bound)} % of the instruction bound at ${(clockMHz / 1000).toFixed(2)} GHz`
}

let clockMHz = 0

/** Estimates the clock from dependent multiplications, three cycles each on every x86-64 since 2008. */
function estimatedClockMHz(): number {
  if (clockMHz > 0) return clockMHz
  const chain = (rounds: number, factor: number) => {
    let x = factor
    for (let i = 0; i < rounds; i++) {
      x = Math.imul(Math.imul(Math.imul(Math.imul(x, factor), factor), factor), factor)
    }
    return x
  }
  for (let attempt = 0; attempt < 12; attempt++) {
    const startMs = performance.now()
    chain(1_000_000, 0x9e3779b1 + attempt)
    clockMHz = Math.max(clockMHz, 12_000_000 / (performance.now() - startMs) / 1000)
  }
  return clockMHz
}
