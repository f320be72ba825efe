/** Many calls and long times do not break a node. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { MAX_RULE_CHANGES } from '../../src/schema/control.ts'
import { signed } from './command.ts'
import { PREFIX } from './common.ts'
import { order, refusal } from './control-common.ts'
import { insert } from './mempool-common.ts'
import { OpenResponse, Peer } from './request.ts'
import { type DevnetOptions, startDevnet } from './whole-node.ts'

async function start(options: DevnetOptions) {
  const devnet = await startDevnet({ port: 0, graph: 'singleton', pow: false, ...options })
  const peer = new Peer(devnet.url)
  onTestFinished(async () => {
    peer.close()
    await devnet.close()
  })
  return { devnet, peer }
}

it('refuses to change the rules more often than its limit', async () => {
  const { devnet, peer } = await start({})
  for (let i = 1; i < MAX_RULE_CHANGES; i++) devnet.chains.changeRules({ blockDelay: 1_000_000n })
  await order(peer, '/devnet/difficulty', { difficulty: 5 })
  const refused = [409, `the rules have changed ${MAX_RULE_CHANGES} times; begin a new network`]
  expect(await refusal(peer, '/devnet/difficulty', { difficulty: 6 })).toEqual(refused)
  expect(await refusal(peer, '/devnet/block-delay', { blockDelayMs: 6 })).toEqual(refused)
  expect(devnet.chains.rules.changes).toHaveLength(MAX_RULE_CHANGES)
  expect((await order(peer, '/devnet/make-blocks', { 0: 1 })).made).toEqual({ 0: 1 })
})

it('many late answers at once cause no warning of a leak', async () => {
  const warnings: Error[] = []
  const listener = (warning: Error) => void warnings.push(warning)
  process.on('warning', listener)
  onTestFinished(() => void process.off('warning', listener))
  const { devnet, peer } = await start({})
  await order(peer, '/devnet/faults', { operation: 'nodeInfo', count: 30, delayMs: 50 })
  const peers = Array.from({ length: 30 }, () => new Peer(devnet.url))
  const answers = await Promise.all(peers.map((each) => each.get('/info')))
  for (const each of peers) each.close()
  expect(answers.map(({ status }) => status)).toEqual(peers.map(() => 200))
  expect(warnings).toEqual([])
})

it('a time that is too long for a timer is shortened to the longest one', async () => {
  const { devnet, peer } = await start({ updateStreamMs: 1e11, refreshMs: 1e11 })
  const stream = await OpenResponse.open(`${devnet.url}${PREFIX}/mining/updates`, { body: new Uint8Array(4) })
  onTestFinished(() => stream.destroy())
  await order(peer, '/devnet/make-blocks', { 0: 1 })
  await insert(peer, [signed()])
  await sleep(50)
  expect(stream.text).toBe('event:New Cut\n\n')
  expect((await order(peer, '/devnet/streams', { action: 'resume', stream: 'all' })).open.mining).toBe(1)
})
