/** Model rigs at a server. The end of the test closes them. */
import { expect, onTestFinished } from 'vitest'
import type { ModelRig } from '../../../bench/rigs/model-rig.ts'
import { Scene, type SceneOptions } from '../../../bench/rigs/scene.ts'
import { randomFrom } from '../../random.ts'

/** Rigs that connect to a server with work. By default new work comes every 30 s. */
export async function sceneOf(
  { rigs, ...options }: Partial<SceneOptions> & Pick<SceneOptions, 'rigs'>,
  seed = 1,
): Promise<Scene & { readonly rig: ModelRig }> {
  const scene = await Scene.open({ rigs, random: randomFrom(seed), workMs: 30_000, ...options })
  onTestFinished(() => scene.close())
  await scene.connect()
  return Object.assign(scene, { rig: scene.rigs[0] })
}

/**
 * Expects that all rigs use their hashrate well, in the first three minutes and later, without any fault of the server.
 */
export async function expectUseful(scene: Scene): Promise<void> {
  await scene.pass(180)
  for (const rig of scene.rigs) expect(rig.useful).toBeGreaterThanOrEqual(0.99)
  scene.measure()
  await scene.pass(420)
  for (const rig of scene.rigs) expect(rig.useful).toBeGreaterThanOrEqual(0.998)
  expectWell(scene)
}

/** Expects that no rig reconnected and no share was refused, except stale ones that were in flight. */
export function expectWell({ rigs, warnings }: Scene): void {
  for (const rig of rigs) {
    expect(rig.faults).toEqual([])
    expect(rig.logins).toBe(1)
    expect([...rig.answers.keys()].filter((code) => code !== 0 && code !== STALE)).toEqual([])
    expect(rig.longestSilenceMs).toBeLessThan(60_000)
  }
  expect(warnings).toEqual([])
}

export const STALE = 21

/** The most requests that a rig sent within a second. */
export function mostInSecond({ shareTimes }: ModelRig): number {
  let [most, first] = [0, 0]
  for (const [index, time] of shareTimes.entries()) {
    while (shareTimes[first] <= time - 1000) first++
    most = Math.max(most, index - first + 1)
  }
  return most
}
