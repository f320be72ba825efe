/**
 * `newcut bench stratum --rigs`: model rigs at the real server in virtual time, and the useful share of their hashing.
 */
import type { Row } from '../report.ts'
import type { Effort } from '../suite.ts'
import type { ModelRig } from './model-rig.ts'
import { models } from './models.ts'
import { Scene } from './scene.ts'
import { type RigCount, readRigs } from './spec.ts'

const SUITE = 'stratum'
const FIRST_S = 180
const NEXT_S = 420
const QUICK_NEXT_S = 20
/** Interval of new work, and one-way latency. */
const WORK_MS = 30_000
const LATENCY_MS = 20
/** All rigs connect within this time. */
const CONNECT_MS = 10_000
/** Random seed, so that runs are comparable. */
const SEED = 1
const DUPLICATE = 22

interface Counts {
  readonly jobs: number
  readonly lines: number
  readonly bytesIn: number
  readonly bytesOut: number
}

/**
 * Runs the models.
 * @throws NewcutError BAD_OPTION for an invalid list of rigs
 */
export async function rigRows(text: string, { isQuick }: Effort, tell: (line: string) => void): Promise<Row[]> {
  const wanted = readRigs(text)
  const nextS = isQuick ? QUICK_NEXT_S : NEXT_S
  const rigs = wanted.flatMap(({ name, count }) => Array.from({ length: count }, () => models[name]))
  const startMs = performance.now()
  const scene = await Scene.open({
    rigs,
    random: randomFrom(SEED),
    workMs: WORK_MS,
    latencyMs: () => LATENCY_MS,
    withinMs: rigs.length === 1 ? 0 : CONNECT_MS,
  })
  try {
    await scene.connect()
    await scene.pass(FIRST_S)
    const first = scene.rigs.map((rig) => rig.useful)
    const before = scene.rigs.map(countsOf)
    scene.measure()
    await scene.pass(nextS)
    const tookS = ((performance.now() - startMs) / 1000).toFixed(1)
    tell(`virtual time, since these rates cannot be searched: ${FIRST_S + nextS} s in ${tookS} s, nothing is hashed`)
    tell(
      `new work every ${WORK_MS / 1000} s, ${2 * LATENCY_MS} ms there and back; figures are of a rig, and their range of all`,
    )
    for (const warning of scene.warnings) tell(`the server warned: ${warning}`)
    const after = scene.rigs.map((rig, index) => perSecond(countsOf(rig), before[index], nextS))
    return rowsOf(wanted, { rigs: scene.rigs, first, after })
  } finally {
    await scene.close()
  }
}

interface Measured {
  readonly rigs: readonly ModelRig[]
  readonly first: readonly number[]
  readonly after: readonly Counts[]
}

function rowsOf(wanted: readonly RigCount[], { rigs, first, after }: Measured): Row[] {
  let from = 0
  return wanted.flatMap(({ name, count }) => {
    const range = [from, from + count] as const
    from += count
    const own = rigs.slice(...range)
    const counts = after.slice(...range)
    const row = (what: string, unit: Row['unit'], samples: readonly number[], note?: string): Row => {
      return { suite: SUITE, name: `${name}: ${what}`, unit, samples, ...(note !== undefined && { note }) }
    }
    const faults = own.flatMap((rig) => rig.faults)
    const note = faults.length === 0 ? `${count} rigs` : `${count} rigs; ${faults.length} faults: ${faults[0]}`
    const times = own.flatMap(({ firstShareMs }) => (firstShareMs === null ? [] : [firstShareMs]))
    return [
      row('useful in the first 3 minutes', '%', first.slice(...range).map(percent), note),
      row(
        'useful after that',
        '%',
        own.map(({ useful }) => percent(useful)),
      ),
      row(
        'duplicates',
        'shares',
        own.map(({ answers }) => answers.get(DUPLICATE) ?? 0),
      ),
      row('shares refused', 'shares', own.map(countRefused)),
      ...(times.length === 0 ? [] : [row('first share after', 'ms', times)]),
      row(
        'longest silence',
        'ms',
        own.map(({ longestSilenceMs }) => longestSilenceMs),
      ),
      row(
        'jobs',
        'lines/s',
        counts.map(({ jobs }) => jobs),
      ),
      row(
        'lines',
        'lines/s',
        counts.map(({ lines }) => lines),
      ),
      row(
        'bytes to the rig',
        'B/s',
        counts.map(({ bytesIn }) => bytesIn),
      ),
      row(
        'bytes from the rig',
        'B/s',
        counts.map(({ bytesOut }) => bytesOut),
      ),
    ]
  })
}

const percent = (share: number) => 100 * share

function countRefused({ answers }: ModelRig): number {
  return [...answers].reduce((sum, [code, count]) => (code === 0 ? sum : sum + count), 0)
}

function countsOf({ jobs, lines, bytes }: ModelRig): Counts {
  return { jobs, lines, bytesIn: bytes.in, bytesOut: bytes.out }
}

function perSecond(now: Counts, before: Counts, seconds: number): Counts {
  const rate = (of: keyof Counts) => (now[of] - before[of]) / seconds
  return { jobs: rate('jobs'), lines: rate('lines'), bytesIn: rate('bytesIn'), bytesOut: rate('bytesOut') }
}

/** A 48-bit linear congruential generator, uniform in [0, 1). */
function randomFrom(seed: number): () => number {
  let state = BigInt(seed)
  return () => {
    state = (state * 0x5deece66dn + 11n) % 2n ** 48n
    return Number(state >> 16n) / 2 ** 32
  }
}
