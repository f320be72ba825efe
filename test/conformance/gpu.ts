/** Tests for the search of single batches, for every platform of the shader. @noble/hashes checks the complete work. */
import { randomBytes, randomInt } from 'node:crypto'
import { blake2s } from '@noble/hashes/blake2.js'
import { expect, it } from 'vitest'
import { type Batch, type BatchResult, MAX_RESULT_NONCES, noncesOf } from '../../src/mining/engine/gpu/layout.ts'
import { HIGHS, LOWS, MIDDLES } from '../../src/mining/engine/range.ts'
import type { BatchRequest } from '../gpu/batch-server.ts'

const WORK_BYTES = 286
const MAX_U32 = 0xffffffff

/** `batches`: how many batches of 2000 nonces are hashed again for comparison. */
export function batchConformance(run: (request: BatchRequest) => Promise<BatchResult>, batches = 60): void {
  it(`the shader finds what @noble/hashes finds, over ${batches} batches of 2000 nonces of random work`, async () => {
    for (let count = 0; count < batches; count++) {
      const bytes = randomBytes(WORK_BYTES)
      const [first, high, trips] = [randomInt(MIDDLES), randomInt(HIGHS), randomInt(1, 65)]
      const [low, step] = [randomInt(LOWS), [1, 256, randomInt(LOWS)][count % 3]]
      const batch = { low, first, high, lanes: Math.ceil(2000 / trips), trips, step }
      const tops = topWords(bytes, batch)
      const bound = tops[randomInt(MAX_RESULT_NONCES)].top
      const { found, nonces } = await run({ bytes, target: targetOf(bound), batch })
      const wanted = solutions(tops, bound)
      expect(found).toBe(wanted.length)
      expect(nonces).toEqual(wanted)
    }
  })

  it.each([
    [1, 1],
    [63, 1],
    [64, 16],
    [65, 15],
    [1, 512],
    [1024, 1],
  ])('the shader tries exactly the nonces of %i lanes and %i trips', async (lanes, trips) => {
    const batch = { low: 0xffff, first: 0x80000000 - 3, high: 0xffff, lanes, trips, step: 1 }
    const bytes = randomBytes(WORK_BYTES)
    const { nonces } = await run({ bytes, target: targetOf(MAX_U32), batch })
    expect(nonces).toEqual(sortNumbers(noncesOf(batch)))
  })

  it('the shader finds a top word equal to the bound, and none above the bound', async () => {
    const bytes = randomBytes(WORK_BYTES)
    const batch = { low: 0, first: 0, high: 0, lanes: 50, trips: 10, step: 1 }
    const [best] = topWords(bytes, batch)
    expect((await run({ bytes, target: targetOf(best.top), batch })).nonces).toEqual([best.nonce])
    expect(await run({ bytes, target: targetOf(best.top - 1), batch })).toEqual({ found: 0, nonces: [] })
    expect(await run({ bytes, target: 0n, batch })).toEqual({ found: 0, nonces: [] })
  })

  it('the shader finds a single first and last nonce', async () => {
    const bytes = randomBytes(WORK_BYTES)
    const batch = { low: 7, first: 99, high: 3, lanes: 100, trips: 3, step: 256 }
    for (const nonce of [noncesOf(batch)[0], noncesOf(batch)[299]]) {
      const top = topWords(bytes, batch).find((entry) => entry.nonce === nonce)?.top ?? 0
      expect((await run({ bytes, target: targetOf(top), batch })).nonces).toContain(nonce)
    }
  })

  it('the shader wraps the low and the middle word around to zero', async () => {
    const batch = { low: 0xff07, first: MAX_U32 - 9, high: 2, lanes: 30, trips: 4, step: 256 }
    const { nonces } = await run({ bytes: randomBytes(WORK_BYTES), target: targetOf(MAX_U32), batch })
    expect(nonces).toEqual(sortNumbers(noncesOf(batch)))
    expect(nonces).toContain((2n << 48n) | 0x7n)
  })

  it('the shader counts candidates that do not fit into the result', async () => {
    const batch = { low: 1, first: 5, high: 2, lanes: 500, trips: 10, step: 1 }
    const { found, nonces } = await run({ bytes: randomBytes(WORK_BYTES), target: targetOf(MAX_U32), batch })
    expect(found).toBe(5000)
    expect(new Set(nonces).size).toBe(MAX_RESULT_NONCES)
    const all = new Set(noncesOf(batch))
    expect(nonces.every((nonce) => all.has(nonce))).toBe(true)
  })

  it('the shader ignores the nonce in the work', async () => {
    const bytes = randomBytes(WORK_BYTES)
    const batch = { low: 11, first: 12, high: 13, lanes: 200, trips: 10, step: 1 }
    const target = targetOf(MAX_U32 >>> 4)
    const before = await run({ bytes, target, batch })
    bytes.fill(0xff, WORK_BYTES - 8)
    expect(await run({ bytes, target, batch })).toEqual(before)
  })

  it.each([
    { workgroup: 1, lanes: 3000 },
    { workgroup: 256, lanes: 100_000 },
    { workgroup: 64, lanes: 30_000, split: true },
    // More workgroups than one dimension of a dispatch allows.
    { workgroup: 1, lanes: 65_536 + 77 },
  ])('the shader finds the same with %o', async ({ lanes, ...sizes }) => {
    const bytes = randomBytes(WORK_BYTES)
    const batch = { low: 1, first: 2, high: 3, lanes, trips: 2, step: 1 }
    const target = targetOf(Math.floor((MAX_U32 / (2 * lanes)) * 200))
    const usual = await run({ bytes, target, batch })
    expect(usual.found).toBeGreaterThan(100)
    expect(await run({ bytes, target, batch, ...sizes })).toEqual(usual)
  })
}

/** The largest target with this top word. */
export function targetOf(bound: number): bigint {
  return (BigInt(bound + 1) << 224n) - 1n
}

/** Nonces with the top words of their hashes, lowest first. */
function topWords(bytes: Uint8Array, batch: Batch): { nonce: bigint; top: number }[] {
  const view = new DataView(Uint8Array.from(bytes).buffer)
  const tops = noncesOf(batch).map((nonce) => {
    view.setBigUint64(WORK_BYTES - 8, nonce, true)
    const hash = blake2s(new Uint8Array(view.buffer))
    return { nonce, top: new DataView(hash.buffer, hash.byteOffset).getUint32(28, true) }
  })
  return tops.sort((a, b) => a.top - b.top)
}

function solutions(tops: readonly { readonly nonce: bigint; readonly top: number }[], bound: number): bigint[] {
  const nonces = tops.filter(({ top }) => top <= bound).map(({ nonce }) => nonce)
  return sortNumbers(nonces)
}

function sortNumbers(nonces: readonly bigint[]): bigint[] {
  return [...nonces].sort((a, b) => (a < b ? -1 : 1))
}
