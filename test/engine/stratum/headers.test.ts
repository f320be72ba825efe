/** New headers come often enough that no rig runs out of nonces or waits in silence, and no header is repeated. */
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { readI64LE } from '../../../src/ground/base/bytes.ts'
import { withCreationTime, withNonce } from '../../../src/ground/chain/header.ts'
import { noWork } from '../../../src/mining/engine/engine.ts'
import { HeaderTimes } from '../../../src/mining/engine/stratum/header-times.ts'
import { Jobs } from '../../../src/mining/engine/stratum/jobs.ts'
import { MAX_ROLL_MS, MIN_ROLL_MS, type RigFigures, rollMs } from '../../../src/mining/engine/stratum/rolls.ts'
import { VirtualClock } from '../../mine/virtual-clock.ts'
import type { Rig } from '../../support/stratum-rig.ts'
import { UNREACHABLE } from '../../support/work.ts'
import { until } from '../../wait.ts'
import { loggedIn, startedServer, stopServers, workOf } from './servers.ts'

afterEach(stopServers)

const QUARTER = 2 ** 46
const timesOf = (rig: Rig) => rig.jobs.map(({ header }) => readI64LE(header, 8))

describe('the time of a header', () => {
  it.each<[string, Partial<RigFigures>, number]>([
    ['a KA3', { agent: 'GodMiner/2.0.0' }, 500],
    ['a KA3 that misread a server', { agent: 'ckbminer-v1.0.0' }, 500],
    ['a KA3 that was measured at 1 TH/s', { agent: 'GodMiner/2.0.0', rate: 1e12 }, 500],
    ['a rig of Goldshell whose rate is not known', { agent: 'kdaminer-v1.0.0', difficulty: 2 ** 44 }, 1716],
    ['a KD6 that was measured', { agent: 'kdaminer-v1.0.0', rate: 29.2e12 }, 1721],
    ['a KD-BOX that was measured', { agent: 'kdaminer-v1.0.0', rate: 1.6e12 }, MAX_ROLL_MS],
    ['an unknown rig with easy shares', { difficulty: 2 ** 32 }, MAX_ROLL_MS],
    ['an unknown rig with hard shares', { difficulty: 2 ** 50 }, MIN_ROLL_MS],
    ['a rig that floods, whatever its rate', { difficulty: 2 ** 45, rate: 1e9, isFlooding: true }, MIN_ROLL_MS],
    ['a rig that floods with easy shares', { difficulty: 2 ** 13, isFlooding: true }, MAX_ROLL_MS],
  ])('the time of a header is right for %s', (_, known, ms) => {
    expect(Math.round(rollMs({ agent: '', rate: null, difficulty: 2 ** 44, ...known }, QUARTER))).toBe(ms)
  })

  it('the time of a header is less than a rig needs for its nonces: at most two headers a second and at least one in 30 s', () => {
    fc.assert(
      fc.property(fc.double({ min: 1, max: 500e12, noNaN: true }), fc.string(), (rate, agent) => {
        const ms = rollMs({ agent, rate, difficulty: 2 ** 44 }, QUARTER)
        expect(ms).toBeGreaterThanOrEqual(MIN_ROLL_MS)
        expect(ms).toBeLessThan(30_000)
        expect((rate * ms) / 1000).toBeLessThan(2 ** 48)
      }),
    )
  })
})

describe('the server', () => {
  it('the server gives a KA3 a header of its class every half second, and no other rig', async () => {
    const clock = new VirtualClock()
    const { engine, port } = await startedServer({}, { clock, headers: { residue: 7, modulus: 16 } })
    await engine.setWork(workOf(1, UNREACHABLE))
    const [fast, slow] = [await loggedIn(port, 'abc.fast', 'GodMiner/2.0.0'), await loggedIn(port, 'abc.slow')]
    await until(() => fast.jobs.length === 1 && slow.jobs.length === 1)
    for (const jobs of [2, 3]) {
      await clock.pass(499)
      // Jobs arrive before later answers.
      await fast.ask('mining.ping', [])
      expect(fast.jobs).toHaveLength(jobs - 1)
      await clock.pass(1)
      await until(() => fast.jobs.length === jobs)
    }
    await slow.ask('mining.ping', [])
    const [first] = timesOf(fast)
    expect(timesOf(fast)).toEqual([first, first + 16n, first + 32n])
    expect(fast.jobs.map(({ clean }) => clean)).toEqual([true, false, false])
    expect(slow.jobs).toHaveLength(1)
  })

  it('the server sends every rig a line within 30 s, even without work: the last job, whose shares are stale', async () => {
    const clock = new VirtualClock()
    const { engine, port } = await startedServer({}, { clock })
    await engine.setWork(workOf(1, UNREACHABLE))
    const rig = await loggedIn(port)
    await until(() => rig.jobs.length === 1)
    await engine.setWork(noWork(2))
    for (const jobs of [2, 3, 4]) {
      await clock.pass(29_500)
      await until(() => rig.jobs.length === jobs)
    }
    const [first] = timesOf(rig)
    expect(timesOf(rig)).toEqual([first, first + 1n, first + 2n, first + 3n])
    expect((await rig.submit(rig.jobs[3].id, rig.nextShare(rig.jobs[3]))).error?.code).toBe(21)
    // A rig that connects now gets the last job too.
    const late = await loggedIn(port, 'abc.late')
    await until(() => late.jobs.length === 1)
    // With work again, its shares count.
    await engine.setWork(workOf(3, UNREACHABLE))
    await until(() => rig.jobs.length === 5)
    expect((await rig.submit(rig.jobs[4].id, rig.nextShare(rig.jobs[4]))).result).toBe(true)
  })

  it('the server repeats the target every 30 s while the first work is missing', async () => {
    const clock = new VirtualClock()
    const { port } = await startedServer({}, { clock })
    const rig = await loggedIn(port)
    for (let round = 0; round < 3; round++) {
      rig.target = 0n
      await clock.pass(29_500)
      await until(() => rig.target > 0n)
    }
  })

  it('the server gives a rig another nonce1 after a restart', async () => {
    const nonce1s = new Set<string>()
    for (const start of [0.25, 0.5, 0.75]) {
      const { port } = await startedServer({}, { random: () => start })
      nonce1s.add((await loggedIn(port)).nonce1)
    }
    expect(nonce1s.size).toBe(3)
  })
})

it('repeated work has another header, so no share repeats an earlier one', async () => {
  const { engine, port } = await startedServer()
  const [work, other] = [workOf(1, UNREACHABLE), workOf(2, UNREACHABLE)]
  await engine.setWork(work)
  const rig = await loggedIn(port)
  for (const next of [other, { ...work, sequence: 3 }, { ...work, sequence: 4 }]) await engine.setWork(next)
  await until(() => rig.jobs.length === 4)
  const [first, , second, third] = timesOf(rig)
  expect(second).toEqual(first + 1n)
  expect(third).toEqual(first + 2n)
})

describe('creation times', () => {
  const classOf = fc
    .integer({ min: 1, max: 4096 })
    .chain((modulus) => fc.record({ modulus: fc.constant(modulus), residue: fc.nat(modulus - 1) }))

  it.each([16, 4096])(
    'creation times of two servers of modulus %d and other residues are never the same',
    (modulus) => {
      const servers = [3, modulus - 1].map((residue) => ({ times: new HeaderTimes(), header: { residue, modulus } }))
      const { bytes } = workOf(1, UNREACHABLE)
      const times = Array.from({ length: 500 }, () =>
        servers.map(({ times, header }) => times.next(bytes, header)),
      ).flat()
      expect(new Set(times).size).toBe(1000)
    },
  )

  it('creation times begin at that of the work or less than a modulus later, and grow by a modulus', () => {
    fc.assert(
      fc.property(classOf, fc.bigInt({ min: 0n, max: 2n ** 61n }), (header, time) => {
        const times = new HeaderTimes()
        const bytes = withCreationTime(workOf(1, UNREACHABLE).bytes, time)
        const [first, second] = [times.next(bytes, header), times.next(bytes, header)]
        expect(first).toBeGreaterThanOrEqual(time)
        expect(first - time).toBeLessThan(BigInt(header.modulus))
        expect(first % BigInt(header.modulus)).toBe(BigInt(header.residue))
        expect(second - first).toBe(BigInt(header.modulus))
      }),
    )
  })

  it('creation times of forgotten work are later than any that it may have had', () => {
    const header = { residue: 0, modulus: 16 }
    const times = new HeaderTimes(2)
    const works = Array.from({ length: 4 }, (_, n) => withCreationTime(workOf(n, UNREACHABLE).bytes, BigInt(1600 * n)))
    expect(works.map((bytes) => times.next(bytes, header))).toEqual([0n, 1600n, 3200n, 4800n])
    // The first two works are forgotten; the newest time of these was 1600.
    expect(times.next(works[0], header)).toBe(1616n)
    expect(times.next(works[3], header)).toBe(4816n)
  })

  it('creation times of forgotten work are later than those of all forgotten works, whichever was forgotten last', () => {
    const header = { residue: 0, modulus: 16 }
    const times = new HeaderTimes(1)
    const works = [3200n, 1600n, 0n].map((time, n) => withCreationTime(workOf(n, UNREACHABLE).bytes, time))
    expect([...works, works[0]].map((bytes) => times.next(bytes, header))).toEqual([3200n, 1600n, 3216n, 3216n])
  })
})

it('two servers with the same work and the same nonce1 hand out no header twice', async () => {
  const work = workOf(1, UNREACHABLE)
  const headers: string[] = []
  const nonce1s = new Set<string>()
  for (const residue of [4, 5]) {
    const clock = new VirtualClock()
    const options = { clock, random: () => 0.5, headers: { residue, modulus: 16 } }
    const { engine, port } = await startedServer({}, options)
    await engine.setWork(work)
    const rig = await loggedIn(port, 'abc.fast', 'GodMiner/2.0.0')
    for (let jobs = 1; jobs <= 4; jobs++) {
      await until(() => rig.jobs.length === jobs)
      await clock.pass(500)
    }
    nonce1s.add(rig.nonce1)
    headers.push(...rig.jobs.map(({ header }) => Buffer.from(header).toString('hex')))
    expect(timesOf(rig).map((time) => time % 16n)).toEqual(rig.jobs.map(() => BigInt(residue)))
  }
  expect(nonce1s.size).toBe(1)
  expect(headers.length).toBeGreaterThanOrEqual(8)
  expect(new Set(headers).size).toBe(headers.length)
})

it('no header is handed out twice, whatever the order of work', () => {
  const works = [1, 2, 3].map((sequence) => workOf(sequence, UNREACHABLE))
  const step = fc.oneof(
    fc.record({ kind: fc.constant('begin' as const), work: fc.nat(2), time: fc.bigInt({ min: 0n, max: 5n }) }),
    fc.record({ kind: fc.constantFrom('fresh' as const, 'rest' as const) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const jobs = new Jobs(
        () => 0,
        () => 0,
        () => ({ residue: 2, modulus: 3 }),
      )
      const headers = new Set<string>()
      let sequence = 0
      for (const each of steps) {
        if (each.kind === 'rest') jobs.endWork()
        const work = each.kind === 'begin' ? works[each.work] : works[0]
        const time = each.kind === 'begin' ? each.time : 0n
        const bytes = withCreationTime(work.bytes, 1_000n + time)
        const job =
          each.kind === 'begin'
            ? jobs.begin({ ...work, sequence: ++sequence, bytes })
            : each.kind === 'fresh'
              ? jobs.issueFresh()
              : null
        if (job === null) continue
        const [, header] = JSON.parse(job.line).params
        expect(headers.has(header)).toBe(false)
        headers.add(header)
        if (each.kind !== 'begin') continue
        // A candidate names the creation time if the header's differs from that of its work.
        const searched = job.creationTime === undefined ? bytes : withCreationTime(bytes, job.creationTime)
        expect(header).toBe(Buffer.from(withNonce(searched, 0n)).toString('hex'))
      }
    }),
  )
})
