import { randomBytes } from 'node:crypto'
import { blake2s } from '@noble/hashes/blake2.js'
import { describe, expect, it } from 'vitest'
import { checkedRate, checksumOf, fixedWork, LONG, SHORT } from '../../bench/verify.ts'
import { readU32LE, writeU64LE } from '../../src/ground/base/bytes.ts'
import type { Kernel } from '../../src/mining/engine/cpu/kernel.ts'
import { chooseKernel } from '../../src/mining/engine/cpu/kernels.ts'
import { nonceOf } from '../../src/mining/engine/range.ts'
import { isFull } from '../rotation.ts'

const { kernel } = chooseKernel(286, 'auto', randomBytes)
if (kernel === null) throw new Error('no kernel runs here')
const fastest: Kernel = kernel

describe('the fixed search', () => {
  it('the fixed search has the checksum that @noble/hashes computes over its nonces', () => {
    const sweeps = isFull ? SHORT.sweeps : 1
    const work = fixedWork()
    const candidates: bigint[] = []
    for (let middle = 0; middle < sweeps; middle++) {
      for (let high = 0; high < 65_536; high++) {
        const nonce = nonceOf(0, middle, high)
        writeU64LE(work, work.length - 8, nonce)
        if (readU32LE(blake2s(work), 28) <= 0xffff) candidates.push(nonce)
      }
    }
    expect(candidates.length).toBeGreaterThan(0)
    const checksum = checksumOf(candidates)
    expect(checkedRate(fastest, fixedWork(), { sweeps, checksum })).toBeGreaterThan(0)
    if (isFull) expect(checksum).toBe(SHORT.checksum)
  })

  it.each(isFull ? [SHORT, LONG] : [SHORT])(
    'the fixed search has the checksum of the fastest kernel in $sweeps sweeps',
    (search) => {
      expect(checkedRate(fastest, fixedWork(), search)).toBeGreaterThan(0)
    },
  )

  it('the fixed search gives no rate for a kernel with wrong results', () => {
    const wrong = {
      ...fastest,
      sweep: (...[low, middle, from, to]: Parameters<Kernel['sweep']>) => fastest.sweep(low, middle ^ 1, from, to),
    }
    expect(() => checkedRate(wrong, fixedWork(), SHORT)).toThrow(/has the checksum [0-9a-f]{16} instead of/)
  })
})
