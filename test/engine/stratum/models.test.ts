/** Models of makers' rigs against the server, on virtual time: the useful share of their hashrate. */
import { describe, expect, it } from 'vitest'
import { modelNames, models } from '../../../bench/rigs/models.ts'
import { rotating, roundsOf } from '../../rotation.ts'
import { expectUseful, expectWell, STALE, sceneOf } from './scenes.ts'

describe.each(modelNames)('a model of %s', (name) => {
  it.each(rotating([1, 2, 3], 1))(
    'the model uses its hashrate well, and no share of it is refused (seed %d)',
    async (seed) => {
      const scene = await sceneOf({ rigs: [models[name]] }, seed)
      await expectUseful(scene)
      // This rig switches to other work with its next push, so only shares before that are stale.
      if (models[name].pushMs === 0) expect([...scene.rig.answers.keys()]).toEqual([0])
      else expect(scene.rig.answers.get(STALE) ?? 0).toBeLessThan(3)
    },
  )
})

it.each(rotating([1, 2, 3, 4, 5], 1))(
  'a KA3 submits a share every 5 to 20 s after a minute (seed %d)',
  async (seed) => {
    const scene = await sceneOf({ rigs: [models.ka3] }, seed)
    const { clock, rig } = scene
    await scene.pass(60)
    const [fromMs, before] = [clock.monotonicMs(), rig.shareTimes.length]
    await scene.pass(1200)
    const meanMs = (clock.monotonicMs() - fromMs) / (rig.shareTimes.length - before)
    expect(meanMs).toBeGreaterThan(5_000)
    expect(meanMs).toBeLessThan(20_000)
  },
)

it('a KA3 stays connected while the node is down for five minutes', async () => {
  const scene = await sceneOf({ rigs: [models.ka3] })
  const { rig } = scene
  await scene.pass(60)
  scene.rest()
  await scene.pass(300)
  scene.work()
  await scene.pass(60)
  expect(rig.faults).toEqual([])
  expect(rig.logins).toBe(1)
  // Everything but the 12 ms before its boards get their first header.
  expect(rig.useful).toBeGreaterThan(0.9999)
  // Without work its shares are stale.
  expect([...rig.answers.keys()].sort()).toEqual([0, STALE])
})

it('a KA3 stays connected to a server that has no work yet', async () => {
  const scene = await sceneOf({ rigs: [models.ka3], isWithoutWork: true })
  await scene.pass(300)
  expect(scene.rig.faults).toEqual([])
  expect(scene.rig.logins).toBe(1)
  expect(scene.rig.jobs).toBe(0)
})

const idleMinutes = roundsOf(60, 15)
it(`a spare KA3 that starts after ${idleMinutes} minutes submits few shares, and wastes no hashrate`, async () => {
  const scene = await sceneOf({ rigs: [models.ka3] })
  const { rig } = scene
  rig.pause()
  await scene.pass(60 * idleMinutes)
  expect(rig.difficulty).toBe(2 ** 48)
  rig.begin()
  rig.measure()
  await scene.pass(10)
  expect(rig.shareTimes.length).toBeLessThan(100)
  await scene.pass(60)
  expect(rig.useful).toBe(1)
  expectWell(scene)
})

it('the shares of a farm count for the rigs that they name', async () => {
  const scene = await sceneOf({ rigs: [models.farm] })
  await scene.pass(1200)
  const counted = scene.engine.status().rigs.map(({ shares }) => shares.accepted)
  expect(counted).toHaveLength(100)
  expect(counted.reduce((sum, each) => sum + each, 0)).toBe(scene.rig.answers.get(0))
  expect(counted.filter((each) => each > 0).length).toBeGreaterThan(50)
})

const many = roundsOf(100, 20)
it(`${many} KA3 on one server use their hashrate well`, async () => {
  const scene = await sceneOf({ rigs: Array.from({ length: many }, () => models.ka3) })
  await scene.pass(180)
  for (const rig of scene.rigs) {
    expect(rig.useful).toBeGreaterThanOrEqual(0.99)
    // Two headers a second, plus new work and new targets.
    expect(rig.jobs).toBeLessThanOrEqual(2 * 180 + 20)
  }
  expectWell(scene)
  const { accepted, stale, ...refused } = scene.engine.status().shares
  expect(accepted).toBeGreaterThan(10 * many)
  // Only shares of the 12 ms until a board switches to other work.
  expect(stale).toBeLessThan(accepted / 500)
  expect(Object.values(refused).every((count) => count === 0)).toBe(true)
  // The credited hashes match the searched ones, apart from chance.
  expect(scene.engine.hashes() / (many * 180 * models.ka3.hashrate)).toBeCloseTo(1, 0)
})
