/** `POST /devnet/reset`: a running node goes back to its start. */
import { rm } from 'node:fs/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startDevnet } from '../../src/compose/devnet.ts'
import { checkDataDirectory } from '../../src/devnet/data/check.ts'
import { startWatched } from './arrival.ts'
import { makeBlocks, ok, poll, send, transfer } from './commands-common.ts'
import { jsonOf } from './common.ts'
import { order, refusal } from './control-common.ts'
import { temporaryDirectory } from './grow.ts'
import { localValue } from './local.ts'
import { pending } from './mempool-common.ts'
import type { Peer } from './request.ts'

const statusOf = async (peer: Peer) => {
  const { clock, streams, ...rest } = jsonOf(await peer.request('GET', '/devnet/status'))
  return { ...rest, stalled: streams.stalled, everyMs: clock.everyMs, isAhead: clock.aheadMs > 1_000_000 }
}

describe('/devnet/reset', () => {
  it('/devnet/reset takes back chains, pools, clock, rules and everything that orders set', async () => {
    const { peer, control, devnet } = await startWatched({ impersonate: ['a'.repeat(64)] })
    // The ledger of this test has blocks already.
    await order(control, '/devnet/reset', {})
    const first = await statusOf(control)
    expect(first.heights).toEqual({ 0: 0, 1: 0 })
    const coins = localValue(devnet.ledger, 0, '(coin.get-balance "sender01")')
    const command = transfer('sender01', 1)
    await ok(send(peer, [command]))
    await makeBlocks(peer, { 0: 5, 1: 5 })
    await order(control, '/devnet/snapshot', {})
    const left = transfer('sender01', 2)
    await ok(send(peer, [left]))
    await order(control, '/devnet/clock', { advanceMs: 10 ** 9 })
    await order(control, '/devnet/clock', { everyMs: 1000 })
    await order(control, '/devnet/difficulty', { difficulty: 7 })
    await order(control, '/devnet/pause', { chain: 1 })
    await order(control, '/devnet/streams', { action: 'stall', stream: 'all' })
    await order(control, '/devnet/faults', { operation: 'nodeInfo', count: 3, status: 500 })
    await order(control, '/devnet/impersonate', { keys: ['*'], on: true })
    await order(control, '/devnet/gas', { blockLimit: 9, minPrice: '1' })
    await order(control, '/devnet/mining', { mode: 'on-arrival', confirmations: 0 })
    const { heights } = await order(control, '/devnet/reset', {})
    expect(heights).toEqual(first.heights)
    expect(await statusOf(control)).toEqual(first)
    expect((await pending(peer)).hashes).toEqual([])
    expect(localValue(devnet.ledger, 0, '(coin.get-balance "sender01")')).toBe(coins)
    expect(await refusal(control, '/devnet/revert', { id: 1 })).toEqual([409, expect.stringContaining('no snapshot 1')])
    // The next block may hold the command again.
    await ok(send(peer, [command]))
    await makeBlocks(peer, { 0: 1 })
    expect(Object.keys(await ok(poll(peer, [command.hash])))).toEqual([command.hash])
    expect((await order(control, '/devnet/reset', {})).heights).toEqual(first.heights)
  })

  it('/devnet/reset goes back to where the process began, with the accounts that it funded', async () => {
    const dataDir = await temporaryDirectory()
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
    const options = { port: 0, graph: 'pair', autoMine: { kind: 'on-demand' }, dataDir } as const
    const before = await startDevnet(options)
    await before.mine({ 0: 3, 1: 3 })
    await before.close()
    const devnet = await startDevnet({ ...options, phraseAccounts: 1 })
    onTestFinished(() => devnet.close())
    let fixtures = 0
    const fixture = async () => {
      fixtures++
      await devnet.mine({ 0: 2 })
    }
    await devnet.loadFixture(fixture)
    expect(await devnet.reset()).toMatchObject({ heights: { 0: 4, 1: 4 } })
    const { result } = await devnet.run({ chain: 1, code: `(coin.get-balance "${devnet.accounts[0].account}")` })
    expect(result).toMatchObject({ data: 10_000 })
    // Fixtures before the reset are gone.
    await devnet.loadFixture(fixture)
    expect(fixtures).toBe(2)
    await devnet.close()
    expect(await checkDataDirectory(dataDir)).toMatchObject({ findings: [] })
  })

  it('/devnet/reset refuses other fields', async () => {
    const { control } = await startWatched()
    expect(await refusal(control, '/devnet/reset', { fork: {} })).toEqual([400, expect.stringContaining('fork')])
  })
})
