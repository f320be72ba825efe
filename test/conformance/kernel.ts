/**
 * Tests for every CPU kernel. Test files call kernelConformance with the kernel's name and a function that creates it.
 */

import { randomBytes } from 'node:crypto'
import { blake2s } from '@noble/hashes/blake2.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { finish, midstate } from '../../src/ground/chain/blake2s.ts'
import { type Kernel, SWEEP_NONCES, type TailLayout, tailLayout } from '../../src/mining/engine/cpu/kernel.ts'
import { selfTestKernel } from '../../src/mining/engine/cpu/self-test.ts'
import { roundsOf } from '../rotation.ts'

/** Work lengths of all graphs in use, and 266, the shortest tail that a kernel can search. In bytes. */
export const WORK_BYTES = [178, 214, 250, 286, 430, 266] as const

export function kernelConformance(name: string, create: (layout: TailLayout) => Kernel): void {
  describe(`kernel ${name}`, () => {
    describe.each(WORK_BYTES)('for work of %i bytes', (workBytes) => {
      const layout = tailLayout(workBytes)
      const kernel = create(layout)
      const work = fc.record({
        header: fc.uint8Array({ minLength: workBytes, maxLength: workBytes }),
        low: fc.integer({ min: 0, max: 0xffff }),
        middle: fc.integer({ min: 0, max: 0xffffffff }),
        chunk: fc.integer({ min: 0, max: SWEEP_NONCES / kernel.lanes - 1 }),
      })

      it('the kernel passes the self-test', () => {
        for (let count = 0; count < roundsOf(5, 1); count++)
          expect(selfTestKernel(kernel, layout, randomBytes)).toBeNull()
      })

      it('the kernel has slices of whole chunks, and sweeps of whole slices', () => {
        expect(kernel.sliceNonces % kernel.lanes).toBe(0)
        expect(SWEEP_NONCES % kernel.sliceNonces).toBe(0)
      })

      it('the kernel finds a chunk exactly when its lowest top word is within the bound', () => {
        const property = fc.property(work, fc.nat({ max: 0xffffffff }), ({ header, low, middle, chunk }, bound) => {
          const start = chunk * kernel.lanes
          const end = start + kernel.lanes
          const tops = Array.from({ length: kernel.lanes }, (_, lane) => topWord(header, low, middle, start + lane))
          const lowest = Math.min(...tops)
          for (const limit of [bound, lowest, Math.max(0, lowest - 1)]) {
            load(kernel, header, limit)
            expect(kernel.sweep(low, middle, start, end)).toBe(lowest <= limit ? start : end)
          }
        })
        fc.assert(property, { numRuns: roundsOf(50, 20) })
      })

      it('the kernel ignores the nonce in the tail', () => {
        const property = fc.property(work, fc.uint8Array({ minLength: 8, maxLength: 8 }), (sample, nonce) => {
          const { header, low, middle, chunk } = sample
          const other = header.slice()
          other.set(nonce, workBytes - nonce.length)
          const start = chunk * kernel.lanes
          const bound = topWord(header, low, middle, start)
          load(kernel, other, bound)
          expect(kernel.sweep(low, middle, start, start + kernel.lanes)).toBe(start)
        })
        fc.assert(property, { numRuns: 20 })
      })

      it('the kernel forgets old work and bounds', () => {
        const [first, second] = [randomBytes(workBytes), randomBytes(workBytes)]
        load(kernel, first, 0xffffffff)
        expect(kernel.sweep(1, 2, 0, kernel.lanes)).toBe(0)
        load(kernel, second, 0)
        expect(kernel.sweep(1, 2, 0, 64)).toBe(64)
        load(kernel, first, topWord(first, 1, 2, 0))
        expect(kernel.sweep(1, 2, 0, kernel.lanes)).toBe(0)
      })

      it('the kernel returns `to` for an empty range', () => {
        load(kernel, randomBytes(workBytes), 0xffffffff)
        for (const at of [0, kernel.lanes, SWEEP_NONCES]) expect(kernel.sweep(0, 0, at, at)).toBe(at)
      })
    })

    it('the kernel finds in a whole sweep, slice by slice, what @noble/hashes finds', () => {
      const kernel = create(tailLayout(286))
      const { header, bound, nonces } = wholeSweep()
      const expected = new Set(nonces.map((swept) => swept - (swept % kernel.lanes)))
      load(kernel, header, bound)
      const found: number[] = []
      for (let from = 0; from < SWEEP_NONCES; ) {
        const to = Math.min(SWEEP_NONCES, from + kernel.sliceNonces)
        const chunk = kernel.sweep(0xabcd, 0xfedcba98, from, to)
        if (chunk < to) found.push(chunk)
        from = chunk < to ? chunk + kernel.lanes : to
      }
      expect(found).toEqual([...expected])
    })
  })
}

interface WholeSweep {
  readonly header: Uint8Array
  readonly bound: number
  /** All nonces of the sweep within the bound. */
  readonly nonces: readonly number[]
}

let judged: WholeSweep | null = null

/** A sweep that @noble/hashes has searched, the same for all kernels of this process: that takes long. */
function wholeSweep(): WholeSweep {
  if (judged !== null) return judged
  const header = randomBytes(286)
  const bound = 0x000fffff // one nonce in 4096
  const all = Array.from({ length: SWEEP_NONCES }, (_, swept) => swept)
  judged = { header, bound, nonces: all.filter((swept) => judge(header, 0xabcd, 0xfedcba98, swept) <= bound) }
  return judged
}

function load(kernel: Kernel, header: Uint8Array, bound: number): void {
  const { state, tail } = midstate(header)
  kernel.setWork(state, tail, bound)
}

function withNonce(header: Uint8Array, low: number, middle: number, swept: number): Uint8Array {
  const view = new DataView(Uint8Array.from(header).buffer)
  view.setUint16(header.length - 8, low, true)
  view.setUint32(header.length - 6, middle, true)
  view.setUint16(header.length - 2, swept, true)
  return new Uint8Array(view.buffer)
}

/** Bytes 28..31 of the hash, by @noble/hashes. */
function judge(header: Uint8Array, low: number, middle: number, swept: number): number {
  const hash = blake2s(withNonce(header, low, middle, swept))
  return new DataView(hash.buffer, hash.byteOffset).getUint32(28, true)
}

/** The same by core/blake2s.ts, which is faster. Its own tests compare it with @noble/hashes. */
function topWord(header: Uint8Array, low: number, middle: number, swept: number): number {
  return finish(midstate(withNonce(header, low, middle, swept)))[7]
}
