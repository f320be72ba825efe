/** Tests for the search of single batches, wherever the shader runs. The judge is @noble/hashes over whole work. */
import { randomBytes, randomInt } from 'node:crypto'
import { blake2s } from '@noble/hashes/blake2.js'
import { expect, it } from 'vitest'
import { type Batch, type BatchResult, MAX_RESULT_NONCES, noncesOf } from '../../src/engine/gpu/layout.ts'
import type { BatchRequest } from '../gpu/batch-server.ts'

const WORK_BYTES = 286
const MAX_U32 = 0xffffffff

export function batchConformance(run: (request: BatchRequest) => Promise<BatchResult>): void {
  it('finds what @noble/hashes finds, over 120,000 nonces of random work', async () => {
    for (let count = 0; count < 60; count++) {
      const bytes = randomBytes(WORK_BYTES)
      const batch = { low: randomInt(0x10000), first: randomInt(2 ** 32), high: randomInt(0x10000), count: 2000 }
      const tops = topWords(bytes, batch)
      const bound = tops[randomInt(MAX_RESULT_NONCES)].top
      const { found, nonces } = await run({ bytes, target: targetOf(bound), batch })
      const wanted = solutions(tops, bound)
      expect(found).toBe(wanted.length)
      expect(nonces).toEqual(wanted)
    }
  })

  it.each([1, 63, 64, 65, 1000, 1024])('tries exactly %i nonces, the first and the last among them', async (count) => {
    const batch = { low: 0xffff, first: 0x80000000 - 3, high: 0xffff, count }
    const bytes = randomBytes(WORK_BYTES)
    const { nonces } = await run({ bytes, target: targetOf(MAX_U32), batch })
    expect(nonces).toEqual(noncesOf(batch))
  })

  it('finds a top word equal to the bound, and none above the bound', async () => {
    const bytes = randomBytes(WORK_BYTES)
    const batch = { low: 0, first: 0, high: 0, count: 500 }
    const [best] = topWords(bytes, batch)
    expect((await run({ bytes, target: targetOf(best.top), batch })).nonces).toEqual([best.nonce])
    expect(await run({ bytes, target: targetOf(best.top - 1), batch })).toEqual({ found: 0, nonces: [] })
    expect(await run({ bytes, target: 0n, batch })).toEqual({ found: 0, nonces: [] })
  })

  it('finds the first and the last index alone', async () => {
    const bytes = randomBytes(WORK_BYTES)
    for (const batch of [{ low: 7, first: 99, high: 3, count: 300 }]) {
      for (const nonce of [noncesOf(batch)[0], noncesOf(batch)[299]]) {
        const top = topWords(bytes, batch).find((entry) => entry.nonce === nonce)?.top ?? 0
        expect((await run({ bytes, target: targetOf(top), batch })).nonces).toContain(nonce)
      }
    }
  })

  it('wraps word 6 around to zero', async () => {
    const batch = { low: 1, first: MAX_U32 - 9, high: 2, count: 30 }
    const { nonces } = await run({ bytes: randomBytes(WORK_BYTES), target: targetOf(MAX_U32), batch })
    expect(nonces).toEqual(noncesOf(batch).sort((a, b) => (a < b ? -1 : 1)))
    expect(nonces).toContain((2n << 48n) | 1n)
  })

  it('counts candidates that do not fit into the result', async () => {
    const batch = { low: 1, first: 5, high: 2, count: 5000 }
    const { found, nonces } = await run({ bytes: randomBytes(WORK_BYTES), target: targetOf(MAX_U32), batch })
    expect(found).toBe(5000)
    expect(new Set(nonces).size).toBe(MAX_RESULT_NONCES)
    const all = new Set(noncesOf(batch))
    expect(nonces.every((nonce) => all.has(nonce))).toBe(true)
  })

  it('does not read the nonce that is in the work', async () => {
    const bytes = randomBytes(WORK_BYTES)
    const batch = { low: 11, first: 12, high: 13, count: 2000 }
    const target = targetOf(MAX_U32 >>> 4)
    const before = await run({ bytes, target, batch })
    bytes.fill(0xff, WORK_BYTES - 8)
    expect(await run({ bytes, target, batch })).toEqual(before)
  })

  it.each([
    { workgroup: 1, loop: 1, count: 3000 },
    { workgroup: 256, loop: 128, count: 100_000 },
    // More workgroups than a dispatch has in one dimension.
    { workgroup: 1, loop: 1, count: 65_536 + 77 },
  ])('finds the same with workgroup $workgroup, loop $loop, $count nonces', async ({ workgroup, loop, count }) => {
    const bytes = randomBytes(WORK_BYTES)
    const batch = { low: 1, first: 2, high: 3, count }
    const target = targetOf(Math.floor((MAX_U32 / count) * 200))
    const usual = await run({ bytes, target, batch })
    expect(usual.found).toBeGreaterThan(100)
    expect(await run({ bytes, target, batch, workgroup, loop })).toEqual(usual)
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
  return nonces.sort((a, b) => (a < b ? -1 : 1))
}
