/** The search loop of a device, without a device: a function answers its batches. */
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readU32LE } from '../../src/ground/base/bytes.ts'
import { describeError } from '../../src/ground/base/errors.ts'
import { withNonce } from '../../src/ground/chain/header.ts'
import { FREE_NONCE } from '../../src/ground/chain/nonce.ts'
import { powHash } from '../../src/ground/chain/pow.ts'
import {
  BatchSize,
  checkProof,
  maxNoncesFor,
  NonceCursor,
  PROOF_CANDIDATES,
  provingBound,
  splitBatch,
} from '../../src/mining/engine/gpu/batches.ts'
import {
  type Batch,
  type BatchResult,
  judgeNonce,
  MAX_BATCH_NONCES,
  MAX_RESULT_NONCES,
  MAX_TRIPS,
  nonceCount,
  noncesOf,
  prepareWork,
} from '../../src/mining/engine/gpu/layout.ts'
import { type GpuReport, LineReader, parseReport } from '../../src/mining/engine/gpu/messages.ts'
import { SearchLoop } from '../../src/mining/engine/gpu/search-loop.ts'
import { nonceOf } from '../../src/mining/engine/range.ts'
import { until } from '../wait.ts'

const START = { first: 2 ** 31, count: 2 ** 31, start: 2 ** 31 - 1000, low: 3, high: 0 }
const FIRST = START.first + START.start

describe('nonce cursor', () => {
  it('the nonce cursor tries a few lows for all of its middles, then the next high word, then the next lows', () => {
    const cursor = new NonceCursor({ first: 100, count: 8, start: 3, low: 0xfffe, high: 65_534 }, 3)
    for (let high = 0; high < 65_536; high++) {
      const first = { low: 0xfffe, first: 103, high: (65_534 + high) % 65_536, lanes: 5, trips: 3, step: 1 }
      const second = { ...first, first: 100, lanes: 3 }
      const batches = [cursor.next(2 ** 30, FREE_NONCE), cursor.next(2 ** 30, FREE_NONCE)]
      if (high < 3 || high > 65_532) expect(batches).toEqual([first, second])
    }
    expect(cursor.next(4, FREE_NONCE)).toEqual({ low: 1, first: 103, high: 65_534, lanes: 1, trips: 3, step: 1 })
  })

  it('the nonce cursor gives each nonce once, whatever the batch sizes', () => {
    const sizes = fc.array(fc.integer({ min: 16, max: 3000 }), { maxLength: 30 })
    const property = fc.property(sizes, fc.integer({ min: 1, max: 16 }), (sizes, trips) => {
      const cursor = new NonceCursor(START, trips)
      const batches = sizes.map((size) => cursor.next(size, FREE_NONCE))
      const nonces = batches.flatMap(noncesOf)
      expect(new Set(nonces).size).toBe(batches.reduce((sum, batch) => sum + nonceCount(batch), 0))
    })
    fc.assert(property, { numRuns: 20 })
  })

  it('the nonce cursor ends a batch at the end of its middles', () => {
    const cursor = new NonceCursor(START, 1)
    const one = { low: 3, trips: 1, step: 1 }
    expect(cursor.next(MAX_BATCH_NONCES, FREE_NONCE)).toEqual({ ...one, first: FIRST, high: 0, lanes: 1000 })
    cursor.next(MAX_BATCH_NONCES, FREE_NONCE)
    cursor.next(MAX_BATCH_NONCES - 1010, FREE_NONCE)
    expect(cursor.next(1000, FREE_NONCE)).toEqual({ ...one, first: FIRST - 10, high: 0, lanes: 10 })
    expect(cursor.next(400, FREE_NONCE)).toEqual({ ...one, first: FIRST, high: 1, lanes: 400 })
  })

  it('the nonce cursor halves a batch without loss', () => {
    for (const lanes of [2, 3, 2049]) {
      const batch = { low: 1, first: 2 ** 32 - 2, high: 9, lanes, trips: 3, step: 1 }
      expect(new Set(splitBatch(batch).flatMap(noncesOf))).toEqual(new Set(noncesOf(batch)))
      expect(splitBatch(batch).reduce((sum, half) => sum + nonceCount(half), 0)).toBe(nonceCount(batch))
    }
  })

  it('the nonce cursor keeps the fixed bits of low words, and makes fewer trips if few bits are free', () => {
    const cursor = new NonceCursor({ first: 0, count: 1, start: 0, low: 0xff00, high: 65_535 }, 200)
    const half = { bits: 8, value: 7 }
    const batches = Array.from({ length: 2 * 65_536 }, () => cursor.next(512, half))
    expect(batches[0]).toEqual({ low: 0xff07, first: 0, high: 65_535, lanes: 1, trips: 200, step: 256 })
    expect(batches[65_536]).toMatchObject({ trips: 56, step: 256 })
    const lows = [batches[0], batches[65_536]].flatMap(noncesOf).map((nonce) => Number(nonce & 0xffffn))
    expect(lows.every((low) => low % 256 === 7)).toBe(true)
    expect(new Set(lows).size).toBe(256)
    expect(cursor.next(512, { bits: 16, value: 9 })).toMatchObject({ low: 9, trips: 1 })
  })

  it('the nonce cursor refuses more trips than the smallest batch has nonces', () => {
    expect(() => new NonceCursor(START, MAX_TRIPS + 1)).toThrow(RangeError)
    expect(maxNoncesFor(0xffffffff)).toBe(MAX_TRIPS)
  })
})

describe('batch size', () => {
  it('the batch size approaches its service time by a factor of two at most in one step', () => {
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

  it('the batch size is at least one workgroup and at most 2^30 nonces', () => {
    const size = new BatchSize(25, 1024, 65_536)
    for (let i = 0; i < 40; i++) size.learn(1e6)
    expect(size.nonces).toBe(1024)
    for (let i = 0; i < 40; i++) size.learn(0)
    expect(size.nonces).toBe(MAX_BATCH_NONCES)
  })

  it('the batch size is limited so that the candidates of an easy target fit into a result', () => {
    expect(maxNoncesFor(0xffffffff)).toBe(MAX_RESULT_NONCES / 2)
    expect(maxNoncesFor(0xffff)).toBe((MAX_RESULT_NONCES / 2) * 65_536)
    expect(maxNoncesFor(0)).toBe(MAX_BATCH_NONCES)
  })
})

describe('search loop', () => {
  it('the search loop searches a batch again in parts when it found more than fits, and loses nothing', async () => {
    const { reports, batches, answer, loop } = searchLoop(10_000)
    // An easy target in its top word only, so that the loop does not shrink the batch beforehand.
    loop.setWork({ sequence: 1, work: prepareWork(randomBytes(286), (1n << 224n) - 1n) })
    const claimed: bigint[] = []
    // 10,000 nonces are halved until they fit: 16 batches that fit, and 15 that did not.
    for (let i = 0; i < 31; i++) {
      await until(() => batches.length > i)
      const batch = batches[i]
      const nonces = noncesOf(batch)
      claimed.push(...(nonces.length > MAX_RESULT_NONCES ? [] : nonces))
      answer(nonces.slice(0, MAX_RESULT_NONCES), nonces.length)
    }
    await turn()
    const counted = reports.reduce((sum, report) => sum + (report.type === 'batch' ? report.nonces : 0), 0)
    expect(counted).toBe(10_000)
    expect(new Set(claimed)).toEqual(new Set(noncesOf({ low: 3, first: 5, high: 0, lanes: 10_000, trips: 1, step: 1 })))
  })

  it('the search loop expects 48 candidates from each batch, and fails when most of them are missing', async () => {
    const bytes = randomBytes(286)
    const outcome = async (share: number) => {
      const { batches, bounds, answer, loop, run } = searchLoop(20_000, 1, PROOF_CANDIDATES)
      loop.setWork({ sequence: 1, work: prepareWork(bytes, 0n) })
      await turn()
      const proving = prepareWork(bytes, (BigInt(bounds[0] + 1) << 224n) - 1n)
      const right = noncesOf(batches[0]).filter((nonce) => judgeNonce(proving, nonce) !== 'false')
      // Expected are 48 candidates in 20,000 random hashes, within six standard deviations.
      expect(Math.abs(right.length - PROOF_CANDIDATES)).toBeLessThan(42)
      const found = right.slice(0, Math.ceil(share * right.length))
      answer(found, found.length)
      return Promise.race([run.catch(describeError), until(() => batches.length > 1).then(() => 'goes on')])
    }
    expect(await outcome(1)).toBe('goes on')
    expect(await outcome(0.05)).toMatch(/^it did not search, or hashes wrongly: [1-5] right of about 48 candidates$/)
  })

  it('the search loop expects no proof from batches with fewer nonces, nor if nearly every nonce solves', () => {
    expect(provingBound(48, PROOF_CANDIDATES)).toBe(2 ** 32 - 1)
    expect(provingBound(10, PROOF_CANDIDATES)).toBe(2 ** 32 - 1)
    expect(() => checkProof(10, 2 ** 32 - 1, 0)).not.toThrow()
    expect(() => checkProof(512, 2 ** 32 - 1, 8)).toThrow(/8 right of about 512/)
    expect(() => checkProof(512, 2 ** 32 - 1, 9)).not.toThrow()
    for (const nonces of [512, 65_536, MAX_BATCH_NONCES]) {
      expect((nonces * (provingBound(nonces, PROOF_CANDIDATES) + 1)) / 2 ** 32).toBeCloseTo(PROOF_CANDIDATES, 0)
      expect(() => checkProof(nonces, provingBound(nonces, PROOF_CANDIDATES), 0)).toThrow(/0 right of about 48/)
    }
  })

  it('the search loop reports that work has begun when the batches before it have finished', async () => {
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
    expect(begun(reports)).toEqual([1, 2])
    answer([], 0)
    await turn()
    expect(begun(reports)).toEqual([1, 2])
    answer([], 0)
    await turn()
    // The loop reports that it has no work after the last result.
    expect(reports.slice(-2)).toMatchObject([
      { type: 'batch', sequence: 2 },
      { type: 'began', sequence: 3 },
    ])
    loop.setWork({ sequence: 4, work: null })
    expect(begun(reports)).toEqual([1, 2, 3, 4])
  })

  it('the search loop rests once it has tried all nonces that a pool left, shows signs of life, and continues with the next header', async () => {
    const fixed = { bits: 32, value: 0xa5c3_b7d9 }
    const range = { first: 0, count: 2 ** 16, start: 0, low: 3, high: 0 }
    const { reports, batches, answer, loop } = searchLoop(1000, 1, 0, range)
    const [work, other] = [randomBytes(286), randomBytes(286)]
    loop.setWork({ sequence: 1, work: prepareWork(work, 1n, fixed) })
    for (let i = 0; i < 65_536; i++) {
      while (batches.length <= i) await turn()
      answer([], 0)
    }
    const tried = batches.flatMap(noncesOf)
    expect(tried.length).toBe(65_536)
    expect(new Set(tried).size).toBe(65_536)
    // A new target for the same header.
    loop.setWork({ sequence: 2, work: prepareWork(work, 2n, fixed) })
    await until(() => begun(reports).filter((sequence) => sequence === 2).length > 1)
    expect(batches.length).toBe(65_536)
    loop.setWork({ sequence: 3, work: prepareWork(other, 1n, fixed) })
    await until(() => batches.length > 65_536)
    expect(begun(reports).at(-1)).toBe(3)
  })

  it('the search loop counts the hashes of late batches of old work, and does not search their parts again', async () => {
    const { reports, batches, answer, loop } = searchLoop(4000)
    loop.setWork({ sequence: 1, work: prepareWork(randomBytes(286), 0n) })
    await turn()
    loop.setWork({ sequence: 2, work: prepareWork(randomBytes(286), 0n) })
    answer([], 3000)
    await turn()
    expect(reports.at(-2)).toMatchObject({ type: 'batch', sequence: 1, nonces: 4000 })
    expect(nonceCount(batches[1])).toBe(4000)
  })

  it('the search loop fails when a device claims more candidates than nonces', async () => {
    const { answer, loop, run } = searchLoop(64)
    loop.setWork({ sequence: 1, work: prepareWork(randomBytes(286), 0n) })
    await turn()
    answer([], 65)
    await expect(run).rejects.toThrow('65 candidates in 64 nonces')
  })

  it('the search loop reports nonces that the device should not have found, but not near misses', async () => {
    const { reports, answer, loop } = searchLoop(64)
    const nonce = nonceOf(3, 5, 0)
    let bytes: Uint8Array
    let top: number
    // Fewer than 48 of 64 nonces meet this target. Batches with more candidates must prove that they were searched.
    do {
      bytes = randomBytes(286)
      top = readU32LE(powHash(withNonce(bytes, nonce)), 28)
    } while (top >= 2 ** 31)
    // The top word of the hash equals that of target 1, which the hash misses, and exceeds that of target 2.
    for (const [sequence, target, candidates] of [
      [1, BigInt(top) << 224n, []],
      [2, (BigInt(top) << 224n) - 1n, ['0000000000050003']],
      [3, (BigInt(top + 1) << 224n) - 1n, ['0000000000050003']],
    ] as const) {
      loop.setWork({ sequence, work: prepareWork(bytes, target) })
      await turn()
      // The answer to the batch of the previous work.
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

  it('valid reports are accepted', () => {
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
  ])('the report %s is refused', (line) => {
    expect(parseReport(line)).toBeNull()
  })

  it('the reports of a device are cut into lines, however they arrive', () => {
    const reader = new LineReader()
    expect([...'ab\ncd\n\nef'].flatMap((text) => reader.push(text))).toEqual(['ab', 'cd', ''])
  })

  it('the reports of a device are refused with a RangeError when a line is too long', () => {
    expect(() => new LineReader().push('x'.repeat(70_000))).toThrow(RangeError)
  })
})

/** The whole range of nonces. */
const ALL = { first: 0, count: 2 ** 32, start: 5, low: 3, high: 0 }

/** A loop whose batches wait for `answer`, which answers the oldest one. */
function searchLoop(nonces: number, inFlight = 1, proofCandidates = 0, range = ALL) {
  const reports: GpuReport[] = []
  const batches: Batch[] = []
  const bounds: number[] = []
  const waiting: ((result: BatchResult) => void)[] = []
  let nowMs = 0
  const loop = new SearchLoop({
    runner: {
      run: (_, { bound }, batch) => {
        batches.push(batch)
        bounds.push(bound)
        return new Promise((resolve) => waiting.push(resolve))
      },
    },
    inFlight,
    cursor: new NonceCursor(range, 1),
    size: new BatchSize(5, 1, nonces),
    proofCandidates,
    send: (report) => reports.push(report),
    // A batch takes exactly its intended time, so the size stays.
    nowMs: () => (nowMs += 5),
  })
  const run = loop.run()
  run.catch(() => undefined)
  const answer = (found: readonly bigint[], count: number) => waiting.shift()?.({ found: count, nonces: found })
  return { reports, batches, bounds, answer, loop, run }
}

function begun(reports: readonly GpuReport[]): number[] {
  return reports.flatMap((report) => (report.type === 'began' ? [report.sequence] : []))
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
