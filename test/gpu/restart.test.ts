/** When newcut restarts the child process of a GPU. The test needs no driver: its child is a stub. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { GpuEngine } from '../../src/mining/engine/gpu/gpu.ts'
import { nonceRanges } from '../../src/mining/engine/range.ts'
import { restartPauseMs } from '../../src/mining/engine/restart.ts'
import { until } from '../wait.ts'

it('restartPauseMs is random below a bound that doubles up to a cap', () => {
  const almostOne = 1 - Number.EPSILON
  const longest = [1, 2, 3, 4, 5, 6, 7, 2000].map((failures) => restartPauseMs(failures, 1000, () => almostOne))
  expect(longest).toEqual([999, 1999, 3999, 7999, 15_999, 29_999, 29_999, 29_999])
  expect(restartPauseMs(5, 1000, () => 0)).toBe(0)
  expect(restartPauseMs(3, 1000, () => 0.25)).toBe(1000)
  const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  const property = fc.property(fc.integer({ min: 1, max: 9 }), share, (failures, random) => {
    const bound = Math.min(30_000, 1000 * 2 ** (failures - 1))
    expect(Math.abs(restartPauseMs(failures, 1000, () => random) - random * bound)).toBeLessThan(1)
  })
  fc.assert(property)
})

it('a device that fails waits a random time before each restart', async () => {
  const draws = [0.5, 0, 0.75, 0.25]
  const engine = new GpuEngine({
    adapters: [null],
    ranges: nonceRanges(1, Math.random),
    tuningFile: null,
    program: new URL('./there-is-no-such-file.mjs', import.meta.url),
    restartMs: 40,
    random: () => draws.shift() ?? 1,
  })
  const warnings: string[] = []
  const onWarning = (message: string) => void warnings.push(message)
  await engine.start(286, { onCandidate: () => undefined, onWarning })
  await until(() => engine.devices()[0].state === 'parked')
  await engine.stop()
  expect(warnings.map((text) => text.match(/again in ([\d.]+) s/)?.[1])).toEqual([
    '0.02',
    '0',
    '0.12',
    '0.08',
    undefined,
  ])
})
