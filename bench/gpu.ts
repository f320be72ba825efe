/**
 * The GPU engine on each adapter: hashrate, batch duration, CPU share while mining and latency of new work. Varies
 * batches in flight, workgroup size and trips. Software adapters are measured only without a real GPU, and named as
 * such. Every candidate is verified, and their number must match the expectation.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withNonce } from '../src/ground/chain/header.ts'
import { solves } from '../src/ground/chain/pow.ts'
import { targetOfDifficulty } from '../src/ground/chain/target.ts'
import type { Candidate } from '../src/mining/engine/engine.ts'
import { listAdapters } from '../src/mining/engine/gpu/adapters.ts'
import { DEFAULT_BATCH_MS, GpuEngine } from '../src/mining/engine/gpu/gpu.ts'
import type { AdapterInfo } from '../src/mining/engine/gpu/messages.ts'
import { nonceRanges } from '../src/mining/engine/range.ts'
import type { SensorValues } from '../src/mining/mine/hardware.ts'
import { askNvidia } from '../src/mining/sensors/nvidia.ts'
import { cudaRates } from './cuda.ts'
import { cardProblem, cardWatts } from './energy.ts'
import { agreement } from './gpu-agreement.ts'
import { amdBound, type Bound, nvidiaBound, shareOf } from './gpu-bounds.ts'
import { mainThreadMs, processorMs } from './processor-time.ts'
import { percentile, type Row, relativeTo } from './report.ts'
import { handMinimum } from './shader-minimum.ts'
import { type Effort, pause } from './suite.ts'
import { engineWork, freshWork } from './work.ts'

const SUITE = 'gpu'
const WORK_BYTES = 286
/** Two-term additions and rotations count as one operation each. */
const TWO_OPERANDS = handMinimum({ add: 2, xor: 2 })
/** Batches at most double each time, and must grow from 50,000 nonces to some hundred million on a fast card. */
const WARM_UP_BATCHES = 40
/** Yields a few candidates per second at 1 MH/s and at 25 GH/s; more would slow the child down. */
const difficultyFor = ({ software }: AdapterInfo) => (software ? 1n << 20n : 1n << 28n)

interface Variant {
  readonly name: string
  readonly inFlight?: number
  readonly batchMs?: number
  readonly workgroup?: number
  readonly trips?: number
  readonly split?: boolean
  /** Whether sizes come from the engine's own tuning. */
  readonly isTuned?: boolean
}

/** Two batches in flight, workgroup 64, 16 trips. */
const USUAL: Variant = { name: 'usual' }
const TUNED: Variant = { name: 'tuned', isTuned: true }
const SPLIT: Variant = { name: 'sums split', split: true }
const VARIANTS: readonly Variant[] = [
  USUAL,
  TUNED,
  { name: 'one in flight', inFlight: 1 },
  { name: 'batches of 5 ms', batchMs: 5 },
  { name: 'batches of 25 ms', batchMs: 25 },
  { name: 'workgroup 128', workgroup: 128 },
  { name: 'workgroup 256', workgroup: 256 },
  { name: '1 trip', trips: 1 },
  { name: '64 trips', trips: 64 },
  { name: '256 trips', trips: 256 },
  SPLIT,
]

/** @param wattsOf reads the power of a card, or null if it is unknown */
export async function gpu(
  effort: Effort,
  tell: (line: string) => void,
  wattsOf: WattsOf = cardWatts,
): Promise<Row[] | string> {
  const { adapters, problem } = await listAdapters()
  if (problem !== null) return problem
  const real = adapters.filter(({ software }) => !software)
  const rows: Row[] = []
  for (const adapter of real.length > 0 ? real : adapters) {
    const isRead = (await wattsOf(adapter)) !== null
    if (!isRead) tell(`J/MH: ${cardProblem(adapter)}`)
    rows.push(...(await adapterRows(adapter, effort, isRead ? wattsOf : null)))
  }
  return rows
}

type WattsOf = (adapter: AdapterInfo) => Promise<number | null>

async function adapterRows(adapter: AdapterInfo, effort: Effort, wattsOf: WattsOf | null): Promise<Row[]> {
  const kind = adapter.software ? 'software driver, no GPU' : `driver ${adapter.driver}`
  const note = `${adapter.name}, ${kind}, two in flight, workgroup 64, 16 trips, ${TWO_OPERANDS} operations a nonce`
  const agreed = await agreementRow(adapter, effort)
  const [usual, ...others] = await variantRows(adapter, effort, wattsOf)
  const split = others.find(({ name }) => name === SPLIT.name)
  const native = adapter.vendor === 'nvidia' && split !== undefined ? cudaRows(usual, split, effort) : []
  const bound = adapter.vendor === 'amd' ? amdBound() : null
  const share = bound === null ? '' : `, ${shareOf(Math.max(...usual.samples), bound)} of ${boundText(bound)}`
  return [agreed, { ...usual, note: note + share }, ...others, ...native, ...(await miningRows(adapter, effort))]
}

/** @throws if the device's candidates differ from the CPU kernel's */
async function agreementRow(adapter: AdapterInfo, { isQuick }: Effort): Promise<Row> {
  const { nonces, candidates, kernel } = await agreement(adapter, adapter.software || isQuick ? 16 : 1024)
  const note = `${nonces.toLocaleString('en')} nonces, ${candidates} candidates, all and only those of ${kernel}`
  return { suite: SUITE, name: 'agrees with the CPU kernel', unit: '%', samples: [100], note }
}

function boundText({ rate, text }: Bound): string {
  return `${Math.round(rate)} MH/s (${text})`
}

/** The hashrate of the CUDA kernel, and the shares of the integer bound that it and the shader reach. */
function cudaRows(usual: Row, split: Row, { sampleMs, rounds }: Effort): Row[] {
  const result = cudaRates(rounds, 2 * sampleMs)
  if (typeof result === 'string') {
    process.stderr.write(`${result}\n`)
    return []
  }
  const { device, multiprocessors, clockMHz, rates } = result
  const [plain, splitBound] = [false, true].map((isSplit) => nvidiaBound(multiprocessors, clockMHz, isSplit))
  const share = (samples: readonly number[], bound: Bound) => shareOf(Math.max(...samples), bound)
  const note =
    `${device}: ${share(rates, plain)} of ${boundText(plain)}, the shader ${share(usual.samples, plain)}, ` +
    `with sums split ${share(split.samples, splitBound)} of ${boundText(splitBound)}`
  const relative = relativeTo(USUAL.name, rates.slice(0, usual.samples.length), usual.samples)
  return [
    { suite: SUITE, name: 'native CUDA kernel', unit: 'MH/s', samples: rates, note, ...(relative && { relative }) },
  ]
}

/** Runs all variants in turn, round after round. */
async function variantRows(
  adapter: AdapterInfo,
  { sampleMs, rounds }: Effort,
  wattsOf: WattsOf | null,
): Promise<Row[]> {
  const rates = new Map<string, number[]>(VARIANTS.map(({ name }) => [name, []]))
  const energy = new Map<string, number[]>(VARIANTS.map(({ name }) => [name, []]))
  for (let round = 0; round < Math.ceil(rounds / 3); round++) {
    for (const variant of VARIANTS) {
      await withGpu(adapter, variant, async (bench) => {
        const { rate } = await bench.measure(2 * sampleMs)
        rates.get(variant.name)?.push(rate)
        // While the card still searches: sensors report the mean of a time up to now.
        const watts = (await wattsOf?.(adapter)) ?? null
        if (watts !== null) energy.get(variant.name)?.push(watts / rate)
      })
    }
  }
  const usual = rates.get(USUAL.name) ?? []
  return [...rates].map(([name, samples]) => {
    const relative = relativeTo(USUAL.name, samples, usual)
    const joulesPerMegahash = wattsOf === null ? null : (energy.get(name) ?? null)
    return { suite: SUITE, name, unit: 'MH/s', samples, joulesPerMegahash, ...(relative && { relative }) }
  })
}

function miningRows(adapter: AdapterInfo, { sampleMs, rounds }: Effort): Promise<Row[]> {
  return withGpu(adapter, TUNED, async (bench) => {
    const measured: Measurement[] = []
    const sensed: SensorValues[] = []
    for (let round = 0; round < rounds; round++) {
      measured.push(await bench.measure(2 * sampleMs))
      if (adapter.vendor === 'nvidia') sensed.push(...(await onlyCard()))
    }
    const latencies: number[] = []
    for (let i = 0; i < 4 * rounds; i++) {
      await pause(2 * DEFAULT_BATCH_MS * Math.random())
      const startMs = performance.now()
      if (!(await bench.give())) throw new Error('new work was not taken')
      latencies.push(performance.now() - startMs)
    }
    bench.check()
    const shares = measured.flatMap(({ processorShare }) => (processorShare === null ? [] : [processorShare]))
    const row = (name: string, unit: Row['unit'], samples: readonly number[]) => ({ suite: SUITE, name, unit, samples })
    const host = row('processor time of the child, of a core', '%', shares)
    return [
      {
        ...row(
          'service time of a batch',
          'ms',
          measured.map(({ serviceMs }) => serviceMs),
        ),
        note: bench.sizes,
      },
      ...(shares.length === 0
        ? []
        : [{ ...host, ...(adapter.software && { note: 'its main thread; the driver computes in the others' }) }]),
      ...figures('power', 'W', sensed, 'watts'),
      ...figures('temperature', '°C', sensed, 'celsius'),
      row('new work p50', 'ms', [percentile(latencies, 0.5)]),
      row('new work max', 'ms', [Math.max(...latencies)]),
    ]
  })
}

/** The only card. With several, the measured one is unknown, so none is returned. */
async function onlyCard(): Promise<readonly SensorValues[]> {
  const cards = await askNvidia({ env: process.env, timeoutMs: 5000 })
  return typeof cards === 'string' || cards.length > 1 ? [] : cards
}

function figures(name: string, unit: Row['unit'], sensed: readonly SensorValues[], key: keyof SensorValues): Row[] {
  const samples = sensed.flatMap(({ [key]: figure }) => (figure === null ? [] : [figure]))
  return samples.length === 0 ? [] : [{ suite: SUITE, name, unit, samples }]
}

interface Measurement {
  /** MH/s. */
  readonly rate: number
  readonly serviceMs: number
  /** CPU use in per cent of one core, or null where the system does not report it. */
  readonly processorShare: number | null
}

class GpuBench {
  readonly #engine: GpuEngine
  readonly #works = new Map<number, Uint8Array>()
  readonly #candidates: readonly Candidate[]
  readonly #difficulty: bigint
  #sequence = 0

  constructor(engine: GpuEngine, candidates: readonly Candidate[], difficulty: bigint) {
    this.#engine = engine
    this.#candidates = candidates
    this.#difficulty = difficulty
  }

  /** Hands out fresh work under the next sequence. */
  give(): Promise<boolean> {
    const bytes = freshWork(this.#difficulty)
    this.#works.set(++this.#sequence, bytes)
    return this.#engine.setWork(engineWork(this.#sequence, bytes, targetOfDifficulty(this.#difficulty)))
  }

  async warmUp(): Promise<void> {
    await this.give()
    while (this.#batches.count < WARM_UP_BATCHES) await pause(5)
  }

  async measure(durationMs: number): Promise<Measurement> {
    const before = { hashes: this.#hashes, ...this.#batches, processorMs: this.#processorMs(), atMs: performance.now() }
    await pause(durationMs)
    const after = { hashes: this.#hashes, ...this.#batches, processorMs: this.#processorMs(), atMs: performance.now() }
    const spentMs = after.atMs - before.atMs
    const { processorMs } = after
    return {
      rate: (after.hashes - before.hashes) / spentMs / 1000,
      serviceMs: (after.serviceMs - before.serviceMs) / (after.count - before.count),
      processorShare:
        processorMs === null || before.processorMs === null
          ? null
          : (100 * (processorMs - before.processorMs)) / spentMs,
    }
  }

  /** @throws if a candidate is wrong, or if their number does not fit the counted hashes */
  check(): void {
    for (const { sequence, nonce } of this.#candidates) {
      const bytes = this.#works.get(sequence)
      if (bytes === undefined || !solves(withNonce(bytes, nonce))) throw new Error('a candidate does not solve')
    }
    const expected = this.#hashes / Number(this.#difficulty)
    if (Math.abs(this.#candidates.length - expected) > 6 * Math.sqrt(expected + 1)) {
      throw new Error(`${this.#candidates.length} candidates where ${expected.toFixed(1)} were expected`)
    }
  }

  get sizes(): string {
    const { tuning } = this.#engine.details()[0]
    if (tuning === null) return 'not tuned'
    const { workgroup, trips, split } = tuning
    return `tuned: workgroup ${workgroup}, ${trips} trips, sums ${split ? 'split' : 'not split'}`
  }

  get #hashes(): number {
    return this.#engine.hashes()
  }

  get #batches(): { readonly count: number; readonly serviceMs: number } {
    return this.#engine.details()[0].batches
  }

  /** CPU time of the child; only its main thread if the driver computes in the others. */
  #processorMs(): number | null {
    const { pid } = this.#engine.details()[0]
    if (pid === undefined) return null
    return this.#engine.adapters()[0]?.software ? mainThreadMs(pid) : processorMs(pid)
  }
}

async function withGpu<T>(adapter: AdapterInfo, variant: Variant, task: (bench: GpuBench) => Promise<T>): Promise<T> {
  const { inFlight = 2, batchMs = DEFAULT_BATCH_MS, isTuned = false } = variant
  const { workgroup = 64, trips = 16, split = false } = variant
  const folder = mkdtempSync(join(tmpdir(), 'newcut-tuning-'))
  const engine = new GpuEngine({
    adapters: [adapter],
    ranges: nonceRanges(1, Math.random),
    allowSoftware: true,
    inFlight,
    batchMs,
    ...(isTuned ? { tuningFile: join(folder, 'tuning.json') } : { tuningFile: null, workgroup, trips, split }),
  })
  const candidates: Candidate[] = []
  await engine.start(WORK_BYTES, {
    onCandidate: (candidate) => void candidates.push(candidate),
    onWarning: (message) => void process.stderr.write(`${message}\n`),
  })
  try {
    const bench = new GpuBench(engine, candidates, difficultyFor(adapter))
    await bench.warmUp()
    return await task(bench)
  } finally {
    await engine.stop()
    rmSync(folder, { recursive: true })
  }
}
