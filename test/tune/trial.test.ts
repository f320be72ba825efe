import { expect, it } from 'vitest'
import { trialHashes } from '../../src/mining/tune/trial.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'

/** A trial of two seconds, whose count of hashes is a function of the time. */
async function trial(hashesAt: (ms: number) => number, stopAtMs = Number.POSITIVE_INFINITY) {
  const clock = new VirtualClock()
  const controller = new AbortController()
  const startMs = clock.monotonicMs()
  const passedMs = () => clock.monotonicMs() - startMs
  const result = trialHashes({ hashes: () => 7 + hashesAt(passedMs()) }, 2_000, { clock, stopped: controller.signal })
  for (let i = 0; i < 100; i++) {
    await clock.pass(1_000)
    if (passedMs() >= stopAtMs) controller.abort()
  }
  return result
}

it('a trial ends after its time', async () => {
  expect(await trial((ms) => ms)).toEqual({ hashes: 2_000, elapsedMs: 2_000 })
})

it('a trial continues until its first hash', async () => {
  expect(await trial((ms) => (ms < 7_000 ? 0 : 5))).toEqual({ hashes: 5, elapsedMs: 8_000 })
})

it('a trial gives up after a minute without a hash, and at once when stopped', async () => {
  expect(await trial(() => 0)).toEqual({ hashes: 0, elapsedMs: 60_000 })
  expect(await trial(() => 0, 3_000)).toMatchObject({ hashes: 0 })
})
