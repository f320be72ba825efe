/** The time for which a node has been silent, according to its cut feed. */
import { expect, it } from 'vitest'
import { NewcutError } from '../../src/ground/base/errors.ts'
import { NodeCalls } from '../../src/mining/source/node/calls.ts'
import { CutFeed } from '../../src/mining/source/node/cut-feed.ts'
import { VirtualClock } from '../mine/virtual-clock.ts'

it('a node is silent from its first unanswered question, or sign of absence, until it answers', async () => {
  const clock = new VirtualClock()
  let isUp = true
  const cut = async () => {
    if (!isUp) throw new NewcutError('NODE_UNREACHABLE', 'refused')
    return new Map()
  }
  const nothing = () => undefined
  const calls = new NodeCalls(clock)
  const feed = new CutFeed({ node: { cut }, calls, onBack: nothing, onFault: nothing, isHurried: () => false })
  feed.start()
  await clock.pass(5_000)
  expect(feed.silentMs).toBe(0)
  feed.suspect()
  await clock.pass(300)
  expect(feed.silentMs).toBe(300)
  await clock.pass(1_000)
  expect(feed.silentMs, 'it was there after all').toBe(0)
  isUp = false
  await clock.pass(4_000)
  expect(feed.silentMs).toBeGreaterThanOrEqual(3_000)
  expect(feed.silentMs).toBeLessThanOrEqual(4_000)
  isUp = true
  await clock.pass(1_500)
  expect(feed.silentMs).toBe(0)
  feed.stop()
})
