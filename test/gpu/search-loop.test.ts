/** The search of a device with no device: batches are answered by a function. */
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readU32LE } from '../../src/core/bytes.ts'
import { withNonce } from '../../src/core/header.ts'
import { powHash } from '../../src/core/pow.ts'
import { BatchSize, halves, mostNoncesFor, NonceCursor } from '../../src/engine/gpu/batches.ts'
import {
  type Batch,
  type BatchResult,
  CAPACITY,
  MOST_BATCH_NONCES,
  noncesOf,
  prepareWork,
} from '../../src/engine/gpu/layout.ts'
import { LineReader, parseReport, type Report } from '../../src/engine/gpu/messages.ts'
import { SearchLoop } from '../../src/engine/gpu/search-loop.ts'
import { nonceOf, splitRanges } from '../../src/engine/range.ts'
import { randomFrom } from '../random.ts'
import { until } from './wait.ts'

const START = { low: 3, lowStep: 2, middle: 2 ** 32 - 1000 }

describe('nonce cursor', () => {
  it('sweeps all of word 6, then the next high word, then its next low word', () => {
    const cursor = new NonceCursor({ low: 0xffff, lowStep: 3, middle: 7 })
    const step = 2 ** 30
    for (let high = 0; high < 65_536; high++) {
      for (let part = 0; part < 4; part++) {
        const batch = cursor.next(step)
        if (high > 2 && high < 65_534) continue
        expect(batch).toEqual({ low: 0xffff, first: (7 + part * step) % 2 ** 32, high, count: step })
      }
    }
    expect(cursor.next(1)).toEqual({ low: 2, first: 7, high: 0, count: 1 })
  })

  it('gives each nonce once, whatever the batch sizes', () => {
    const property = fc.property(fc.array(fc.integer({ min: 1, max: 3000 }), { maxLength: 30 }), (sizes) => {
      const cursor = new NonceCursor(START)
      const nonces = sizes.flatMap((size) => noncesOf(cursor.next(size)))
      expect(new Set(nonces).size).toBe(sizes.reduce((sum, size) => sum + size, 0))
    })
    fc.assert(property, { numRuns: 20 })
  })

  it('stops a batch at the end of a high word', () => {
    const cursor = new NonceCursor(START)
    for (let i = 0; i < 3; i++) cursor.next(MOST_BATCH_NONCES)
    cursor.next(MOST_BATCH_NONCES - 10)
    expect(cursor.next(1000)).toEqual({ low: 3, first: START.middle - 10, high: 0, count: 10 })
    expect(cursor.next(1000)).toEqual({ low: 3, first: START.middle, high: 1, count: 1000 })
  })

  it('halves a batch without loss', () => {
    for (const count of [2, 3, 2049]) {
      const batch = { low: 1, first: 2 ** 32 - 2, high: 9, count }
      expect(halves(batch).flatMap(noncesOf)).toEqual(noncesOf(batch))
    }
  })
})

describe('nonce ranges of several engines', () => {
  it('have no value of `low` in common, however they are swept', () => {
    const property = fc.property(
      fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 4 }),
      fc.nat(),
      (counts, seed) => {
        const split = splitRanges(counts, randomFrom(seed))
        expect(split.map((ranges) => ranges.length)).toEqual(counts)
        const slots = counts.reduce((sum, count) => sum + count, 0)
        // So many restarts, or 2^48 nonces each, until the first `low` comes round.
        const turns = Math.min(50, Math.floor(65_536 / Math.max(1, slots)))
        const lows = split.flat().flatMap(({ low, lowStep }) => {
          return Array.from({ length: turns }, (_, turn) => (low + turn * lowStep) & 0xffff)
        })
        expect(new Set(lows).size).toBe(lows.length)
      },
    )
    fc.assert(property, { numRuns: 100 })
  })
})

describe('batch size', () => {
  it('comes to the service time it aims at, in steps of two at most', () => {
    const size = new BatchSize(25, 1024, 65_536)
    let before = size.nonces
    for (let i = 0; i < 40; i++) {
      size.learn(size.nonces / 18_000_000)
      expect(size.nonces / before).toBeLessThanOrEqual(2)
      expect(size.nonces % 1024).toBe(0)
      before = size.nonces
    }
    expect(size.nonces / 18_000_000).toBeCloseTo(25, 1)
    size.learn(10_000)
    expect(size.nonces).toBeGreaterThan(0.49 * before)
  })

  it('is one workgroup at least and 2^30 at most', () => {
    const size = new BatchSize(25, 1024, 65_536)
    for (let i = 0; i < 40; i++) size.learn(1e6)
    expect(size.nonces).toBe(1024)
    for (let i = 0; i < 40; i++) size.learn(0)
    expect(size.nonces).toBe(MOST_BATCH_NONCES)
  })

  it('leaves room for the candidates of an easy target', () => {
    expect(mostNoncesFor(0xffffffff)).toBe(CAPACITY / 2)
    expect(mostNoncesFor(0xffff)).toBe((CAPACITY / 2) * 65_536)
    expect(mostNoncesFor(0)).toBe(MOST_BATCH_NONCES)
  })
})

describe('search loop', () => {
  it('searches a batch again in parts when it found more than fits, and loses nothing', async () => {
    const { reports, batches, answer, loop } = searchLoop(10_000)
    // An easy target in its top word only, so that the batch is not made small beforehand.
    loop.setWork({ sequence: 1, work: prepareWork(randomBytes(286), (1n << 224n) - 1n) })
    const claimed: bigint[] = []
    // A tree of 16 parts that fit, and 15 that did not.
    for (let i = 0; i < 31; i++) {
      await until(() => batches.length > i)
      const batch = batches[i]
      claimed.push(...(batch.count > CAPACITY ? [] : noncesOf(batch)))
      answer(batch.count > CAPACITY ? noncesOf(batch).slice(0, CAPACITY) : noncesOf(batch), batch.count)
    }
    await turn()
    const counted = reports.reduce((sum, report) => sum + (report.type === 'batch' ? report.nonces : 0), 0)
    expect(counted).toBe(10_000)
    expect(new Set(claimed)).toEqual(new Set(noncesOf({ low: 3, first: START.middle, high: 0, count: 10_000 })))
  })

  it('tells that work has begun when the batches before it are done', async () => {
    const { reports, answer, loop } = searchLoop(64, 2)
    loop.setWork({ sequence: 1, work: prepareWork(randomBytes(286), 0n) })
    await turn()
    loop.setWork({ sequence: 2, work: prepareWork(randomBytes(286), 0n) })
    expect(begun(reports)).toEqual([1])
    answer([], 0)
    await turn()
    expect(begun(reports)).toEqual([1])
    answer([], 0)
    await turn()
    expect(begun(reports)).toEqual([1, 2])
    loop.setWork({ sequence: 3, work: null })
    expect(begun(reports)).toEqual([1, 2, 3])
  })

  it('counts what late batches of old work hashed, and drops their parts', async () => {
    const { reports, batches, answer, loop } = searchLoop(4000)
    loop.setWork({ sequence: 1, work: prepareWork(randomBytes(286), 0n) })
    await turn()
    loop.setWork({ sequence: 2, work: prepareWork(randomBytes(286), 0n) })
    answer([], 3000)
    await turn()
    expect(reports.at(-2)).toMatchObject({ type: 'batch', sequence: 1, nonces: 4000 })
    expect(batches[1].count).toBe(4000)
  })

  it('fails when a device claims more candidates than nonces', async () => {
    const { answer, loop, run } = searchLoop(64)
    loop.setWork({ sequence: 1, work: prepareWork(randomBytes(286), 0n) })
    await turn()
    answer([], 65)
    await expect(run).rejects.toThrow('65 candidates in 64 nonces')
  })

  it('reports nonces that the device should not have found, and keeps near misses to itself', async () => {
    const { reports, answer, loop } = searchLoop(64)
    const bytes = randomBytes(286)
    const nonce = nonceOf(3, 5, 0)
    const top = readU32LE(powHash(withNonce(bytes, nonce)), 28)
    // Within the top word of the first target but above it, and above the top word of the second.
    for (const [sequence, target, candidates] of [
      [1, BigInt(top) << 224n, []],
      [2, (BigInt(top) << 224n) - 1n, ['0000000000050003']],
      [3, (BigInt(top + 1) << 224n) - 1n, ['0000000000050003']],
    ] as const) {
      loop.setWork({ sequence, work: prepareWork(bytes, target) })
      await turn()
      // The batch of the work before.
      if (sequence > 1) answer([], 0)
      await turn()
      answer([nonce], 1)
      await turn()
      expect(reports).toContainEqual(expect.objectContaining({ type: 'batch', sequence, candidates }))
    }
  })
})

describe('reports', () => {
  const good = '{"type":"batch","sequence":1,"nonces":64,"serviceMs":2.5,"candidates":["00000000000000ff"]}'

  it('are taken as they should be', () => {
    expect(parseReport(good)).toMatchObject({ type: 'batch', nonces: 64 })
    expect(parseReport('{"type":"began","sequence":3}')).toEqual({ type: 'began', sequence: 3 })
  })

  it.each([
    '',
    'null',
    '[]',
    '{"type":"toString"}',
    '{"type":"began","sequence":-1}',
    '{"type":"began","sequence":1e300}',
    good.replace('64', '0'),
    good.replace('64', '1e12'),
    good.replace('64', '1.5'),
    good.replace('00ff', '00fg'),
    good.replace('2.5', '-1'),
    good.slice(0, -1),
  ])('%s is none', (line) => {
    expect(parseReport(line)).toBeNull()
  })

  it('come in lines, however they are cut, and not without end', () => {
    const reader = new LineReader()
    expect([...'ab\ncd\n\nef'].flatMap((text) => reader.push(text))).toEqual(['ab', 'cd', ''])
    expect(() => reader.push('x'.repeat(70_000))).toThrow(RangeError)
  })
})

/** A loop whose batches wait for `answer`, oldest first. */
function searchLoop(nonces: number, inFlight = 1) {
  const reports: Report[] = []
  const batches: Batch[] = []
  const waiting: ((result: BatchResult) => void)[] = []
  let nowMs = 0
  const loop = new SearchLoop({
    runner: {
      run: (_, __, batch) => {
        batches.push(batch)
        return new Promise((resolve) => waiting.push(resolve))
      },
    },
    inFlight,
    cursor: new NonceCursor(START),
    size: new BatchSize(5, 1, nonces),
    send: (report) => reports.push(report),
    // A batch takes as long as it should, so that the size stays.
    nowMs: () => (nowMs += 5),
  })
  const run = loop.run()
  run.catch(() => undefined)
  const answer = (found: readonly bigint[], count: number) => waiting.shift()?.({ found: count, nonces: found })
  return { reports, batches, answer, loop, run }
}

function begun(reports: readonly Report[]): number[] {
  return reports.flatMap((report) => (report.type === 'began' ? [report.sequence] : []))
}

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
