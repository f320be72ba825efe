/** Huge counts and durations do not break a node. */
import { expect, it, onTestFinished } from 'vitest'
import type { HostMachine } from '../../src/devnet/devnet.ts'
import type { Clock } from '../../src/ground/base/clock.ts'
import { MAX_RULE_CHANGES } from '../../src/ground/schema/control.ts'
import { until } from '../wait.ts'
import { signed } from './command.ts'
import { clockByHand, PREFIX } from './common.ts'
import { order, refusal } from './control-common.ts'
import { insert } from './mempool-common.ts'
import { OpenResponse, Peer } from './request.ts'
import { type DevnetOptions, startDevnet } from './whole-node.ts'

async function start(options: DevnetOptions, machine: Partial<HostMachine> = {}) {
  const devnet = await startDevnet({ port: 0, graph: 'singleton', pow: false, ...options }, machine)
  const peer = new Peer(devnet.url)
  onTestFinished(async () => {
    peer.close()
    await devnet.close()
  })
  return { devnet, peer }
}

it('the node refuses to change the rules more often than its limit', async () => {
  const { devnet, peer } = await start({})
  for (let i = 1; i < MAX_RULE_CHANGES; i++) devnet.chains.changeRules({ blockDelay: 1_000_000n })
  await order(peer, '/devnet/difficulty', { difficulty: 5 })
  const refused = [409, `the rules have changed ${MAX_RULE_CHANGES} times; begin a new network`]
  expect(await refusal(peer, '/devnet/difficulty', { difficulty: 6 })).toEqual(refused)
  expect(await refusal(peer, '/devnet/block-delay', { blockDelayMs: 6 })).toEqual(refused)
  expect(devnet.chains.rules.changes).toHaveLength(MAX_RULE_CHANGES)
  expect((await order(peer, '/devnet/make-blocks', { 0: 1 })).made).toEqual({ 0: 1 })
})

it('many delayed answers at once cause no leak warning', async () => {
  const warnings: Error[] = []
  const listener = (warning: Error) => void warnings.push(warning)
  process.on('warning', listener)
  onTestFinished(() => void process.off('warning', listener))
  const { time, clock, waiting } = clockByHand()
  const { devnet, peer } = await start({}, { clock })
  await order(peer, '/devnet/faults', { operation: 'nodeInfo', count: 30, delayMs: 50 })
  const peers = Array.from({ length: 30 }, () => new Peer(devnet.url))
  const asked = Promise.all(peers.map((each) => each.get('/info')))
  await until(() => waiting(50) === 30)
  await time.pass(50)
  const answers = await asked
  for (const each of peers) each.close()
  expect(answers.map(({ status }) => status)).toEqual(peers.map(() => 200))
  expect(warnings).toEqual([])
})

it('a time that is too long for a timer is shortened to the longest possible one', async () => {
  const { time, clock } = clockByHand()
  const delays: number[] = []
  const after: Clock['after'] = (delayMs, run) => {
    delays.push(delayMs)
    return clock.after(delayMs, run)
  }
  const limits = { updateStreamMs: 1e11, refreshMs: 1e11 }
  const { devnet, peer } = await start(limits, { clock: { ...clock, after } })
  const stream = await OpenResponse.open(`${devnet.url}${PREFIX}/mining/updates`, { body: new Uint8Array(4) })
  onTestFinished(() => stream.destroy())
  await order(peer, '/devnet/make-blocks', { 0: 1 })
  await insert(peer, [signed()])
  // The end of the stream, and the next event of its chain.
  await until(() => time.pending === 2)
  expect(stream.text).toBe('event:New Cut\n\n')
  // setTimeout would run a longer delay at once.
  expect(Math.max(...delays)).toBeLessThan(2 ** 31)
  expect(Math.min(...delays.slice(-1))).toBeGreaterThan(2 ** 30)
  expect((await order(peer, '/devnet/streams', { action: 'resume', stream: 'all' })).open.mining).toBe(1)
})
