/** Models of makers' rigs against the server, on virtual time: what part of their hash power is of use. */
import { afterEach, describe, expect, it } from 'vitest'
import { modelHash } from '../../../bench/rigs/model-hash.ts'
import { ModelRig } from '../../../bench/rigs/model-rig.ts'
import { type ModelName, models } from '../../../bench/rigs/models.ts'
import { VirtualClock } from '../../../bench/rigs/virtual-clock.ts'
import { UNREACHABLE } from '../../../bench/work.ts'
import { noWork } from '../../../src/engine/engine.ts'
import { randomFrom } from '../../random.ts'
import { startedServer, stopServers, workOf } from './servers.ts'

afterEach(stopServers)

/** New work comes so often. */
const WORK_MS = 30_000

/** A server with work, and rigs that are logged in. */
async function mining(names: readonly ModelName[], seed: number) {
  const clock = new VirtualClock()
  const { engine } = await startedServer(
    {},
    { clock, difficulty: null, shareHash: modelHash, random: randomFrom(seed) },
  )
  let sequence = 0
  const giveWork = () => engine.setWork(workOf(++sequence, UNREACHABLE))
  const pass = async (seconds: number) => {
    for (let ms = 0; ms < seconds * 1000; ms += WORK_MS) {
      void giveWork()
      await clock.pass(Math.min(WORK_MS, seconds * 1000 - ms))
    }
  }
  void giveWork()
  const rigs = names.map((name, index) => {
    const user = names.length === 1 ? 'k:abc.rig' : `k:abc.rig-${index}`
    return new ModelRig(clock, {
      ...{ model: models[name], user, random: randomFrom(1000 * seed + index) },
      accept: (socket) => engine.accept(socket),
    })
  })
  await clock.pass(100)
  for (const rig of rigs) rig.connect()
  await clock.pass(1)
  for (const rig of rigs) rig.measure()
  const stop = () => {
    for (const rig of rigs) rig.stop()
  }
  return { clock, engine, rigs, rig: rigs[0], pass, stop, giveWork, rest: () => engine.setWork(noWork(++sequence)) }
}

function expectWell(rig: ModelRig): void {
  expect([rig.faults, rig.logins]).toEqual([[], 1])
  expect([...rig.answers.keys()]).toEqual([0])
  expect(rig.longestSilenceMs).toBeLessThan(60_000)
}

describe.each(Object.keys(models) as ModelName[])('a model of %s', (name) => {
  it.each([1, 2, 3])('has its hash power used, and no share of it refused (seed %d)', async (seed) => {
    const { rig, pass, stop } = await mining([name], seed)
    await pass(180)
    expect(rig.useful).toBeGreaterThanOrEqual(0.99)
    rig.measure()
    await pass(420)
    expect(rig.useful).toBeGreaterThanOrEqual(0.998)
    expectWell(rig)
    stop()
  })
})

it.each([1, 2, 3, 4, 5])('a KA3 hands in a share every 5 to 20 s after a minute (seed %d)', async (seed) => {
  const { clock, rig, pass, stop } = await mining(['ka3'], seed)
  await pass(60)
  const [fromMs, before] = [clock.monotonicMs(), rig.shareTimes.length]
  await pass(1200)
  const meanMs = (clock.monotonicMs() - fromMs) / (rig.shareTimes.length - before)
  expect(meanMs).toBeGreaterThan(5_000)
  expect(meanMs).toBeLessThan(20_000)
  stop()
})

it('a KA3 does not leave while the node is lost for five minutes', async () => {
  const { clock, rig, pass, rest, stop } = await mining(['ka3'], 1)
  await pass(60)
  void rest()
  await clock.pass(300_000)
  await pass(60)
  expect([rig.faults, rig.logins]).toEqual([[], 1])
  // All but the 12 ms until its boards have their first header.
  expect(rig.useful).toBeGreaterThan(0.9999)
  // Without work its shares are stale.
  expect([...rig.answers.keys()].sort()).toEqual([0, 21])
  stop()
})

it('a KA3 does not leave a server that has no work yet', async () => {
  const clock = new VirtualClock()
  const { engine } = await startedServer({}, { clock, difficulty: null, shareHash: modelHash })
  const rig = new ModelRig(clock, {
    ...{ model: models.ka3, user: 'k:abc.rig', random: randomFrom(1) },
    accept: (socket) => engine.accept(socket),
  })
  rig.connect()
  await clock.pass(300_000)
  expect([rig.faults, rig.logins]).toEqual([[], 1])
  rig.stop()
})

it('a spare KA3 that starts after an hour hands in few shares, and all of its hash power is of use', async () => {
  const { clock, rig, pass, stop } = await mining(['ka3'], 1)
  rig.pause()
  await pass(3_600)
  expect(rig.difficulty).toBe(2 ** 48)
  rig.begin()
  rig.measure()
  await clock.pass(10_000)
  expect(rig.shareTimes.length).toBeLessThan(100)
  await pass(60)
  expect(rig.useful).toBe(1)
  expectWell(rig)
  stop()
})

it('the shares of a farm count for the rig that each names', async () => {
  const { engine, rig, pass, stop } = await mining(['farm'], 1)
  await pass(1200)
  const counted = engine.status().rigs.map(({ shares }) => shares.accepted)
  expect(counted).toHaveLength(100)
  expect(counted.reduce((sum, each) => sum + each, 0)).toBe(rig.answers.get(0))
  expect(counted.filter((each) => each > 0).length).toBeGreaterThan(50)
  stop()
})

it('a hundred KA3 on one server have their hash power used', async () => {
  const { engine, rigs, pass, stop } = await mining(
    Array.from({ length: 100 }, () => 'ka3'),
    1,
  )
  await pass(180)
  for (const rig of rigs) {
    expect(rig.useful).toBeGreaterThanOrEqual(0.99)
    expectWell(rig)
    // Two headers a second, new work, and new targets.
    expect(rig.jobs).toBeLessThanOrEqual(2 * 180 + 20)
  }
  const { accepted, ...refused } = engine.status().shares
  expect(accepted).toBeGreaterThan(1000)
  expect(Object.values(refused).every((count) => count === 0)).toBe(true)
  // What was credited is what was searched, but for chance.
  expect(engine.hashes() / (100 * 180 * models.ka3.hashrate)).toBeCloseTo(1, 0)
  stop()
})
