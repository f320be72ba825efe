/** The rotations of repeated tests together do all of them. */
import { afterEach, expect, it, vi } from 'vitest'

/** The module as a run with these variables loads it. */
async function inRun(variables: Readonly<Record<string, string>>): Promise<typeof import('./rotation.ts')> {
  vi.resetModules()
  for (const name of ['TEST_FULL', 'TEST_ROTATION', 'TEST_ROUNDS']) {
    vi.stubEnv(name, variables[name])
  }
  return import('./rotation.ts')
}

afterEach(() => void vi.unstubAllEnvs())

const items = Array.from({ length: 10 }, (_, i) => i)

it('each run has a part of the items, and as many runs as there are parts have all', async () => {
  const runs: number[][] = []
  for (const rotation of [7, 8, 9]) {
    const { rotating } = await inRun({ TEST_ROTATION: String(rotation) })
    runs.push(rotating(items, 4))
  }
  expect(runs).toEqual([
    [1, 4, 7],
    [2, 5, 8],
    [0, 3, 6, 9],
  ])
})

it('a run without a number has the first part, and a short list whole', async () => {
  const { rotating, roundsOf } = await inRun({})
  expect(rotating(items, 4)).toEqual([0, 3, 6, 9])
  expect(rotating(items, 10)).toEqual(items)
  expect(roundsOf(20, 7)).toBe(7)
})

it('a full run has all items and rounds, unless a number of rounds is given', async () => {
  const { rotating, roundsOf } = await inRun({ TEST_FULL: '1', TEST_ROTATION: '1' })
  expect(rotating(items, 4)).toEqual(items)
  expect(roundsOf(20, 7)).toBe(20)
  const { roundsOf: given } = await inRun({ TEST_FULL: '1', TEST_ROUNDS: '3' })
  expect(given(20, 7)).toBe(3)
})
