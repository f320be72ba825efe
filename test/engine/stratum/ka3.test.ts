/** Variations of a KA3 on virtual time: its network, its firmware, and work that is frequent, missing or easy. */
import { describe, expect, it } from 'vitest'
import { ModelRig } from '../../../bench/rigs/model-rig.ts'
import { models, type RigModel } from '../../../bench/rigs/models.ts'
import type { SceneOptions } from '../../../bench/rigs/scene.ts'
import { randomFrom } from '../../random.ts'
import { rotating, roundsOf } from '../../rotation.ts'
import { expectUseful, expectWell, mostInSecond, STALE, sceneOf } from './scenes.ts'

const { ka3, unknown } = models
const between = (from: number, to: number, seed: number) => {
  const random = randomFrom(seed)
  return () => from + (to - from) * random()
}

type Variation = Partial<SceneOptions> & { readonly model?: RigModel }
const VARIATIONS: readonly (readonly [string, Variation])[] = [
  ['5 to 200 ms away, each message another time', { latencyMs: between(5, 200, 9) }],
  ['with new work every second', { workMs: 1_000 }],
  ['with the firmware of 2023', { model: models.ka3b }],
  ['whose boards take up headers at once', { model: { ...ka3, pushMs: 0 } }],
  ['on a small network, where it finds a block in 1.7 s', { blockDifficulty: 1n << 48n }],
  ['5 ms away', { latencyMs: () => 5 }],
  ['with the same work all the time', { workMs: Number.POSITIVE_INFINITY }],
  ['that misread another server', { model: { ...ka3, agent: 'ckbminer-v1.0.0' } }],
  [
    'at half its clock rate',
    { model: { ...ka3, hashrate: ka3.hashrate / 2, space: ka3.space, pushMs: 2 * ka3.pushMs } },
  ],
  ['on a smaller one, where it finds five blocks a second', { blockDifficulty: 1n << 45n }],
  ['200 ms away', { latencyMs: () => 200 }],
  ['with new work every 5 s, 50 ms away', { workMs: 5_000, latencyMs: () => 50 }],
  ['whose boards have a counter each', { model: { ...ka3, space: 3 * ka3.space } }],
  ['whose chips report easier hashes', { model: { ...ka3, leastShare: 2 ** 32 } }],
]

// Five in a row vary latency, work, firmware, boards and network.
describe.each(rotating(VARIATIONS, 5))('a KA3 %s', (_, { model = ka3, ...options }) => {
  it('a KA3 of this variation uses its hashrate well', async () => {
    const scene = await sceneOf({ rigs: [model], ...options }, 11)
    await expectUseful(scene)
    expect(mostInSecond(scene.rig)).toBeLessThan(100)
    expect(scene.rig.slowestAnswerMs).toBeLessThanOrEqual(400)
  })
})

describe('a KA3 with an unknown agent string', () => {
  const distances = [
    [20, 2],
    [200, 3],
    [0, 1],
  ]
  it.each(rotating(distances, 1))(
    'a KA3 with an unknown agent string uses its hashrate well, and floods for one round trip only (%d ms away, seed %d)',
    async (latencyMs, seed) => {
      const scene = await sceneOf({ rigs: [unknown], latencyMs: () => latencyMs }, seed)
      const { rig, clock } = scene
      const startMs = clock.monotonicMs()
      await scene.pass(10)
      // Subscribe, authorize and the first eight shares take one round trip each, and the new target takes half of one.
      const flood = rig.targets.filter(({ difficulty }) => difficulty === 2 ** 32)
      const [hard] = rig.targets.filter(({ difficulty }) => difficulty > 2 ** 40)
      expect(flood).toHaveLength(1)
      expect(hard.atMs - startMs).toBeLessThanOrEqual(6 * latencyMs + 25)
      // The difficulty fits: one share every 2 to 60 s.
      expect(rig.difficulty).toBeGreaterThanOrEqual(2 ** 48.3)
      expect(rig.difficulty).toBeLessThanOrEqual(2 ** 53.2)
      // The server answered all of them at once.
      expect(rig.slowestAnswerMs).toBeLessThanOrEqual(2 * latencyMs)
      expect(rig.mostWaiting).toBeLessThanOrEqual(2 * latencyMs * 40 + 1)
      const { accepted } = scene.engine.status().shares
      await expectUseful(scene)
      // Each share counted by the difficulty of its job.
      expect(accepted).toBeGreaterThan(8)
      expect([...rig.answers.keys()].filter((code) => code !== STALE)).toEqual([0])
    },
  )

  it.each(rotating([1, 2], 1))(
    'a KA3 with an unknown agent string floods a small network for at most one round trip, with stale shares (seed %d)',
    async (seed) => {
      const scene = await sceneOf({ rigs: [unknown], latencyMs: () => 50, blockDifficulty: 1n << 45n }, seed)
      await scene.pass(60)
      expect(scene.rig.answers.get(STALE)).toBeGreaterThan(0)
      expect(scene.rig.slowestAnswerMs).toBeLessThanOrEqual(100)
      expectWell(scene)
    },
  )

  it('a KA3 with an unknown agent string does not delay other rigs of its address', async () => {
    const scene = await sceneOf(
      { rigs: [models.kd6, ...Array.from({ length: roundsOf(5, 2) }, () => unknown)], latencyMs: () => 20 },
      5,
    )
    await expectUseful(scene)
    for (const rig of scene.rigs) expect(rig.slowestAnswerMs).toBeLessThanOrEqual(40)
  })
})

describe('an outage of five minutes', () => {
  it('an outage of five minutes costs a KA3 that time and at most a minute more, and its difficulty stays', async () => {
    const scene = await sceneOf({ rigs: [ka3], latencyMs: () => 20 }, 6)
    const { rig, network } = scene
    await scene.pass(180)
    const before = rig.difficulty
    network.isLost = true
    await scene.pass(300)
    network.isLost = false
    await scene.pass(35)
    rig.measure()
    const shares = rig.shareTimes.length
    await scene.pass(60)
    expect(rig.logins).toBe(2)
    expect(rig.useful).toBeGreaterThanOrEqual(0.998)
    expect(rig.difficulty).toBeGreaterThanOrEqual(before / 4)
    // A flood would be 151 shares a second.
    expect(rig.shareTimes.length - shares).toBeLessThan(60)
    // Shares that were in flight at the disconnect got no answer, and no other share was refused.
    expect([...rig.answers.keys()].filter((code) => code !== STALE)).toEqual([0])
    expect(scene.warnings).toEqual([])
  })
})

it('a spare connection of a KA3 does not change the start of its next one', async () => {
  const scene = await sceneOf({ rigs: [ka3] }, 7)
  const { rig, clock, network } = scene
  const accept = scene.engine.accept.bind(scene.engine)
  const more = () => new ModelRig(clock, { model: ka3, user: 'k:abc.rig', random: randomFrom(8), network, accept })
  const spare = more()
  spare.pause()
  spare.connect()
  await scene.pass(120)
  expect(spare.difficulty).toBe(2 ** 48)
  expect(rig.difficulty).toBeGreaterThan(2 ** 48)
  const again = more()
  again.connect()
  await scene.pass(1)
  expect(again.targets[0].difficulty).toBe(rig.difficulty)
  for (const each of [spare, again]) each.stop()
})

const many = roundsOf(100, 20)
it(`${many} KA3, 5 to 200 ms away and with new work every 5 s, use their hashrate well`, async () => {
  const rigs = Array.from({ length: many }, () => ka3)
  const scene = await sceneOf({ rigs, latencyMs: between(5, 200, 10), workMs: 5_000, withinMs: 2_000 }, 10)
  await scene.pass(10)
  scene.measure()
  await scene.pass(60)
  for (const rig of scene.rigs) expect(rig.useful).toBeGreaterThanOrEqual(0.998)
  expectWell(scene)
})
