/**
 * Compares a GPU with the CPU kernel over many nonces. @noble/hashes, which judges the self-test and the tests, would
 * take hours for a billion.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { FREE_NONCE } from '../src/ground/chain/nonce.ts'
import type { Kernel } from '../src/mining/engine/cpu/kernel.ts'
import { chooseKernel } from '../src/mining/engine/cpu/kernels.ts'
import { GpuEngine } from '../src/mining/engine/gpu/gpu.ts'
import { judgeNonce, prepareWork, SEARCHED_WORK_BYTES } from '../src/mining/engine/gpu/layout.ts'
import type { AdapterChoice } from '../src/mining/engine/gpu/messages.ts'
import { HIGHS, LOWS, lowWith, MIDDLES, type NonceRange, nextLow, nonceOf } from '../src/mining/engine/range.ts'
import { pause } from './suite.ts'
import { engineWork } from './work.ts'

/** Middle words, and low words per lane: 2^20 nonces under each high word. */
const MIDDLE_COUNT = 2 ** 14
const TRIPS = 64
const NONCES_PER_HIGH = MIDDLE_COUNT * TRIPS
/** Expected number of candidates. */
const CANDIDATES = 1024
const MAX_SEARCH_MS = 120_000

export interface Agreement {
  readonly nonces: number
  readonly candidates: number
  readonly kernel: string
}

/**
 * Searches the same `highs` times 2^20 nonces (a multiple of 16) on a device and on the CPU.
 * @throws if their candidates differ
 */
export async function agreement(
  adapter: AdapterChoice,
  highs: number,
  env: Readonly<Record<string, string>> = {},
): Promise<Agreement> {
  const bytes = randomBytes(SEARCHED_WORK_BYTES)
  const nonces = highs * NONCES_PER_HIGH
  const bound = Math.floor((CANDIDATES * 2 ** 32) / nonces) - 1
  const target = (BigInt(bound + 1) << 224n) - 1n
  const range = {
    first: randomInt(MIDDLES - MIDDLE_COUNT),
    count: MIDDLE_COUNT,
    start: 0,
    // One run in many wraps around.
    low: randomInt(LOWS),
    high: 16 * randomInt((HIGHS - highs) / 16),
  }
  const { kernel } = chooseKernel(bytes.length, 'auto', randomBytes, new Set())
  if (kernel === null) throw new Error('no CPU kernel works here')
  const byGpu = await searchedByGpu({ adapter, env, range, bytes, target, nonces })
  const wanted = searchedByCpu(kernel, range, highs, bytes, target)
  const isWanted = (nonce: bigint) => Number(nonce >> 48n) < range.high + highs
  const found = new Set([...byGpu].filter(isWanted))
  const missing = [...wanted].filter((nonce) => !found.has(nonce)).length
  const surplus = [...found].filter((nonce) => !wanted.has(nonce)).length
  if (missing + surplus > 0) {
    throw new Error(
      `of ${nonces} nonces the GPU missed ${missing} candidates of ${wanted.size}, and made up ${surplus}`,
    )
  }
  return { nonces, candidates: wanted.size, kernel: kernel.name }
}

interface GpuSearch {
  readonly adapter: AdapterChoice
  readonly env: Readonly<Record<string, string>>
  readonly range: NonceRange
  readonly bytes: Uint8Array
  readonly target: bigint
  readonly nonces: number
}

/** The engine searches the range in order: the first nonces, and some more. */
async function searchedByGpu({ adapter, env, range, bytes, target, nonces }: GpuSearch): Promise<Set<bigint>> {
  const found = new Set<bigint>()
  const options = { allowSoftware: true, tuningFile: null, workgroup: 64, trips: TRIPS, split: false, inFlight: 2 }
  const engine = new GpuEngine({ adapters: [adapter], ranges: [range], env, ...options })
  let trouble = ''
  const onWarning = (message: string) => {
    trouble = message
  }
  await engine.start(bytes.length, { onCandidate: ({ nonce }) => void found.add(nonce), onWarning })
  try {
    await engine.setWork(engineWork(1, bytes, target))
    const startMs = performance.now()
    // Two batches are in flight and may return in either order.
    while (engine.hashes() < nonces + 2 * NONCES_PER_HIGH) {
      if (trouble !== '' || performance.now() - startMs > MAX_SEARCH_MS) throw new Error(`no agreement: ${trouble}`)
      await pause(20)
    }
  } finally {
    await engine.stop()
  }
  return found
}

function searchedByCpu(
  kernel: Kernel,
  range: NonceRange,
  highs: number,
  bytes: Uint8Array,
  target: bigint,
): Set<bigint> {
  const work = prepareWork(bytes, target)
  kernel.setWork(work.mid.state, work.mid.tail, work.bound)
  const found = new Set<bigint>()
  const end = range.high + highs
  for (let trip = 0; trip < TRIPS; trip++) {
    const low = nextLow(lowWith(range.low, FREE_NONCE), FREE_NONCE, trip)
    for (let middle = range.first; middle < range.first + range.count; middle++) {
      for (let high = range.high; high < end; high += kernel.lanes) {
        high = kernel.sweep(low, middle, high, end)
        for (let lane = high; lane < Math.min(end, high + kernel.lanes); lane++) {
          const nonce = nonceOf(low, middle, lane)
          if (judgeNonce(work, nonce) === 'solution') found.add(nonce)
        }
      }
    }
  }
  return found
}
