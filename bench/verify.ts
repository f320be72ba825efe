/**
 * A fixed search, equal on every machine: each kernel hashes the same nonces of the same work on one thread, and its
 * candidates must have a known checksum. Needs neither network nor node. Publish a hashrate together with the checksum:
 * a kernel, CPU or build that computes wrongly gets another checksum and no hashrate.
 */
import { randomBytes } from 'node:crypto'
import { encodeHex, u256LE, writeU64LE } from '../src/ground/base/bytes.ts'
import { NewcutError } from '../src/ground/base/errors.ts'
import { finish, midstate } from '../src/ground/chain/blake2s.ts'
import { encodeWork, withNonce } from '../src/ground/chain/header.ts'
import { meets, powHash } from '../src/ground/chain/pow.ts'
import { type Kernel, SWEEP_NONCES, tailLayout } from '../src/mining/engine/cpu/kernel.ts'
import { chooseKernel } from '../src/mining/engine/cpu/kernels.ts'
import { kernelNames } from '../src/mining/engine/cpu/names.ts'
import { nonceOf } from '../src/mining/engine/range.ts'
import { type Row, relativeTo } from './report.ts'
import type { Effort } from './suite.ts'

const SUITE = 'verify'
/** One nonce in 2^16 is a candidate. */
const BOUND = 0xffff
const TARGET = (1n << 240n) - 1n

/** A search of `sweeps` x 65,536 nonces from nonce 0: middle parts 0 to sweeps - 1, each with all high parts. */
export interface FixedSearch {
  readonly sweeps: number
  /** The first 8 bytes, in hex, of BLAKE2s-256 over all candidates as u64 LE in search order. */
  readonly checksum: string
}

/**
 * Computed once by the JavaScript kernel; test/bench/verify.test.ts confirms the short one with @noble/hashes.
 */
export const SHORT: FixedSearch = { sweeps: 4, checksum: '6d3a67bc292f3511' }
export const LONG: FixedSearch = { sweeps: 1024, checksum: '57767cf71c792a10' }

/** 286-byte work whose hashes are those of the numbers 0 to 4. */
export function fixedWork(): Uint8Array {
  const hashOf = (number: bigint) => powHash(u256LE(number))
  return encodeWork({
    featureFlags: 0n,
    creationTime: 1_600_000_000_000_000n,
    parent: hashOf(0n),
    adjacents: new Map([1, 2, 3].map((chain) => [chain, hashOf(BigInt(chain))])),
    target: TARGET,
    payloadHash: hashOf(4n),
    chainId: 0,
    weight: 0n,
    height: 1n,
    version: 5,
    epochStart: 1_600_000_000_000_000n,
    nonce: 0n,
  })
}

/** The checksum of candidates: 16 hex digits. */
export function checksumOf(candidates: readonly bigint[]): string {
  const bytes = new Uint8Array(8 * candidates.length)
  for (const [index, nonce] of candidates.entries()) writeU64LE(bytes, 8 * index, nonce)
  return encodeHex(powHash(bytes)).slice(0, 16)
}

export async function verify({ rounds, isQuick }: Effort, tell: (line: string) => void): Promise<Row[]> {
  const search = isQuick ? SHORT : LONG
  const work = fixedWork()
  const kernels = kernelNames.flatMap(
    (name) => chooseKernel(work.length, name, (bytes) => randomBytes(bytes)).kernel ?? [],
  )
  tell(`${(search.sweeps * SWEEP_NONCES).toLocaleString('en')} nonces of one work, checksum ${search.checksum}`)
  const rates = new Map<Kernel, number[]>(kernels.map((kernel) => [kernel, []]))
  for (let round = 0; round < (isQuick ? 1 : Math.min(rounds, 3)); round++) {
    for (const [kernel, samples] of rates) samples.push(checkedRate(kernel, work, search))
  }
  const slowest = [...rates].at(-1)
  return [...rates].map(([{ name }, samples]): Row => {
    const relative = slowest && relativeTo(slowest[0].name, samples, slowest[1])
    return { suite: SUITE, name, unit: 'MH/s', samples, ...(relative && { relative }), checksum: search.checksum }
  })
}

/**
 * Measures a kernel in MH/s.
 * @throws NewcutError KERNEL_REFUSED if its candidates are wrong
 */
export function checkedRate(kernel: Kernel, work: Uint8Array, { sweeps, checksum }: FixedSearch): number {
  const chunks: { readonly middle: number; readonly from: number }[] = []
  const mid = midstate(work)
  kernel.setWork(mid.state, mid.tail, BOUND)
  const startMs = performance.now()
  for (let middle = 0; middle < sweeps; middle++) {
    for (let from = 0; from < SWEEP_NONCES; ) {
      const to = Math.min(from + kernel.sliceNonces, SWEEP_NONCES)
      const found = kernel.sweep(0, middle, from, to)
      if (found < to) chunks.push({ middle, from: found })
      from = found < to ? found + kernel.lanes : to
    }
  }
  const tookMs = performance.now() - startMs
  const found = checksumOf(chunks.flatMap(({ middle, from }) => candidatesIn(work, kernel.lanes, middle, from)))
  if (found !== checksum) {
    const message = `kernel ${kernel.name} has the checksum ${found} instead of ${checksum}: it computes wrongly`
    throw new NewcutError('KERNEL_REFUSED', message, {
      hint: '--kernel names another; newcut devices tests all of them',
    })
  }
  return (sweeps * SWEEP_NONCES) / tookMs / 1000
}

/** The solving nonces of a chunk, each verified in full. */
function candidatesIn(work: Uint8Array, lanes: number, middle: number, from: number): bigint[] {
  const { nonceWord } = tailLayout(work.length)
  const mid = midstate(work)
  const tail = mid.tail.slice()
  tail[nonceWord + 1] = middle
  const candidates: bigint[] = []
  for (let high = from; high < from + lanes; high++) {
    tail[nonceWord + 2] = high
    if (finish(mid, tail)[7] > BOUND) continue
    const nonce = nonceOf(0, middle, high)
    if (meets(powHash(withNonce(work, nonce)), TARGET)) candidates.push(nonce)
  }
  return candidates
}
