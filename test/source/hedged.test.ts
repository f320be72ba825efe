/** Hedged requests: which of the repeated requests stay open, and how long the caller waits for an answer. */
import { expect, it } from 'vitest'
import { AdaptiveTimeout } from '../../src/mining/source/node/adaptive-timeout.ts'
import { sendHedged } from '../../src/mining/source/node/hedged.ts'
import { Wakeups } from '../../src/mining/source/node/wakeups.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'

/** Sends one hedged request to a node that answers after `answerMs`. `sent` and `dropped` number its attempts. */
function ask(clock: VirtualClock, answerMs: number, more: { timeouts?: AdaptiveTimeout; wakeups?: Wakeups } = {}) {
  const seen = { sent: 0, dropped: [] as number[], open: 0, most: 0, outcome: '' }
  const request = (signal: AbortSignal) => {
    const number = ++seen.sent
    seen.most = Math.max(seen.most, ++seen.open)
    return new Promise<number>((resolve, reject) => {
      const cancel = clock.after(answerMs, () => resolve(number))
      signal.addEventListener('abort', () => {
        seen.open--
        seen.dropped.push(number)
        cancel()
        reject(signal.reason)
      })
    })
  }
  const { signal } = new AbortController()
  void sendHedged(request, { clock, what: 'a question', signal, ...more })
    .then(
      (number) => `answer to ${number}`,
      (error: Error) => error.message,
    )
    .then((outcome) => {
      seen.outcome = outcome
    })
  return seen
}

it("a hedged request takes a slow node's answer to the first request, however often it was repeated", async () => {
  const clock = new VirtualClock()
  const seen = ask(clock, 4_000)
  await clock.pass(4_000)
  expect(seen).toMatchObject({ outcome: 'answer to 1', sent: 3 })
  expect(seen.dropped).toEqual([1, 2, 3])
})

it('a hedged request takes the first answer, even while other answers keep reporting that the node is back', async () => {
  const clock = new VirtualClock()
  const wakeups = new Wakeups()
  const seen = ask(clock, 3_000, { wakeups })
  for (let i = 0; i < 10; i++) {
    await clock.pass(300)
    wakeups.wake(false)
  }
  expect(seen.outcome).toBe('answer to 1')
  expect(seen.most).toBeLessThanOrEqual(4)
})

it('a hedged request drops all earlier requests when the node was away', async () => {
  const clock = new VirtualClock()
  const wakeups = new Wakeups()
  const seen = ask(clock, 4_000, { wakeups })
  await clock.pass(2_000)
  wakeups.wake(true)
  expect(seen.dropped).toEqual([1, 2])
  await clock.pass(4_000)
  expect(seen.outcome).toBe('no answer to a question within 5 s')
})

it('the timeout of a hedged request doubles after one without an answer, and shrinks after quick answers', async () => {
  const clock = new VirtualClock()
  const timeouts = new AdaptiveTimeout()
  /** The outcome of a request after this time, if answers take `answerMs`. */
  const within = async (ms: number, answerMs: number) => {
    const seen = ask(clock, answerMs, { timeouts })
    await clock.pass(ms)
    return seen.outcome
  }
  expect(await within(5_000, 7_000)).toBe('no answer to a question within 5 s')
  expect(await within(7_000, 7_000)).toBe('answer to 1')
  expect(await within(14_000, 60_000)).toBe('no answer to a question within 14 s')
  expect(await within(10, 10)).toBe('answer to 1')
  expect(await within(5_000, 60_000)).toBe('no answer to a question within 5 s')
  expect(clock.pending).toBe(0)
})
