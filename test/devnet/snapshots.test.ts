/** Snapshots, and reverts that also set the clock back, over HTTP, in memory and on disk. */
import { rm } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import { checkDataDirectory } from '../../src/devnet/data/check.ts'
import { funded, signed } from './command.ts'
import { exec } from './commands-common.ts'
import { brief, jsonOf, PREFIX, TEXT } from './common.ts'
import { order, refusal } from './control-common.ts'
import { temporaryDirectory } from './grow.ts'
import { localValue } from './local.ts'
import { insert, pending } from './mempool-common.ts'
import { getWork, solve, submit } from './miner.ts'
import { OpenResponse, Peer } from './request.ts'
import { type Devnet, type DevnetOptions, startDevnet } from './whole-node.ts'

const HOUR_MS = 3_600_000
const NOBODY = new AbortController().signal

const ON_DEMAND: DevnetOptions = { autoMine: { kind: 'on-demand' } }

async function start(options: DevnetOptions = ON_DEMAND) {
  const devnet = await startDevnet({ port: 0, graph: 'pair', ...options })
  const peer = new Peer(devnet.url)
  const close = async () => {
    peer.close()
    await devnet.close()
  }
  onTestFinished(close)
  const make = (counts: Record<number, number>) => order(peer, '/make-blocks', counts)
  const take = async () => (await order(peer, '/devnet/snapshot', {})).id as number
  const revert = (id: number) => order(peer, '/devnet/revert', { id })
  const status = async () => jsonOf(await peer.get('/devnet/status'))
  const cut = async () => jsonOf(await peer.get(`${PREFIX}/cut`)).hashes
  return { devnet, peer, make, take, revert, status, cut, close }
}

/** The tolerance covers small adjustments of the machine's own clock. */
const expectAhead = (aheadMs: number, expected: number) => expect(Math.abs(aheadMs - expected)).toBeLessThan(60_000)

const COINS = '(coin.get-balance "sender01")'
const coinsOf = (devnet: Devnet, account: string) =>
  localValue(devnet.ledger, 0, `(coin.get-balance "${account}")`) as number

/** A transfer that the mempool of chain 0 accepts. */
function transfer(amount: number) {
  const text = amount.toFixed(1)
  const code = `(coin.transfer "sender00" "sender01" ${text})`
  const clist = [
    { name: 'coin.GAS', args: [] },
    { name: 'coin.TRANSFER', args: ['sender00', 'sender01', amount] },
  ]
  return signed({}, { payload: { exec: { code, data: {} } }, signers: [{ pubKey: funded.publicKey, clist }] })
}

async function directory(): Promise<string> {
  const path = await temporaryDirectory()
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}

it.each(['memory', 'disk'])('a revert restores chains, coins, pools, rules and clock: in %s', async (where) => {
  const dataDir = where === 'disk' ? await directory() : undefined
  const { devnet, peer, make, take, revert, status, cut, close } = await start({
    ...ON_DEMAND,
    ...(dataDir !== undefined && { dataDir }),
  })
  await make({ 0: 2, 1: 2 })
  const waiting = exec('(+ 1 2)')
  await insert(peer, [waiting])
  await order(peer, '/devnet/clock', { advanceMs: HOUR_MS })
  const [before, coins, { heights, ruleChanges }] = [await cut(), coinsOf(devnet, 'sender01'), await status()]

  const id = await take()
  await make({ 0: 1 })
  expect((await pending(peer)).hashes).toEqual([])
  await order(peer, '/devnet/clock', { advanceMs: HOUR_MS })
  await order(peer, '/devnet/difficulty', { difficulty: 77 })
  await order(peer, '/devnet/block-delay', { blockDelayMs: 5 })
  await make({ 0: 5, 1: 4 })
  const later = exec('(+ 1 3)', { creationTime: Math.floor(Date.now() / 1000) + 7000 })
  await insert(peer, [later])
  expect(await cut()).not.toEqual(before)

  const reverted = await revert(id)
  expect(reverted.heights).toEqual(heights)
  expectAhead(reverted.clock.aheadMs, HOUR_MS)
  expect(await cut()).toEqual(before)
  expect((await pending(peer)).hashes).toEqual([waiting.hash])
  expect(coinsOf(devnet, 'sender01')).toBe(coins)
  expect(await status()).toMatchObject({ heights, ruleChanges, snapshots: [] })
  expectAhead((await status()).clock.aheadMs, HOUR_MS)

  // The chains grow again, without the difficulty that was set in between.
  await make({ 0: 3, 1: 3 })
  const head = devnet.chains.cut.get(0)
  expect(devnet.chains.network.blockDelay).toBe(30_000_000n)
  expect(head?.target).toBe(devnet.chains.ancestor(head?.hash as Uint8Array, 1).target)
  expect((await pending(peer)).hashes).toEqual([])
  if (dataDir === undefined) return
  const grown = await cut()
  await close()
  const again = await start({ ...ON_DEMAND, ...(dataDir !== undefined && { dataDir }) })
  expect(await again.cut()).toEqual(grown)
  expect((await again.status()).ruleChanges).toEqual([])
  await again.close()
  expect(await checkDataDirectory(dataDir, NOBODY)).toMatchObject({ findings: [], findingCount: 0 })
})

it('a revert undoes contract calls after the snapshot, and they can run again', async () => {
  const { devnet, peer, make, take, revert } = await start()
  await make({ 0: 1, 1: 1 })
  const coins = coinsOf(devnet, 'sender01')
  const first = await take()
  const payment = transfer(2.5)
  await insert(peer, [payment])
  await make({ 0: 1 })
  expect(coinsOf(devnet, 'sender01')).toBe(coins + 2.5)
  const second = await take()
  await insert(peer, [transfer(4.5)])
  await make({ 0: 1 })
  expect(coinsOf(devnet, 'sender01')).toBe(coins + 7)
  await revert(second)
  expect(coinsOf(devnet, 'sender01')).toBe(coins + 2.5)
  await revert(first)
  expect(localValue(devnet.ledger, 0, COINS)).toBe(coins)
  // The same command again: no chain has it now.
  await insert(peer, [payment])
  await make({ 0: 1 })
  expect(coinsOf(devnet, 'sender01')).toBe(coins + 2.5)
})

it('a revert drops its snapshot and later ones; others are unknown', async () => {
  const { peer, make, take, revert, status } = await start()
  const ids = [await take(), await take(), await take()]
  expect(ids).toEqual([1, 2, 3])
  expect((await status()).snapshots).toEqual(ids)
  await make({ 0: 1 })
  await revert(2)
  expect((await status()).snapshots).toEqual([1])
  for (const id of [2, 3, 4]) {
    expect(await refusal(peer, '/devnet/revert', { id })).toEqual([
      409,
      `there is no snapshot ${id}: each is good for one revert, which drops later ones too`,
    ])
  }
  expect(await take()).toBe(4)
  expect((await refusal(peer, '/devnet/revert', { id: 0 }))[0]).toBe(400)
  expect((await refusal(peer, '/devnet/snapshot', { all: true }))[0]).toBe(400)
})

it('a node keeps at most 1000 snapshots', async () => {
  const { peer, take, revert } = await start({ ...ON_DEMAND, graph: 'singleton' })
  for (let i = 0; i < 1000; i++) await take()
  expect(await refusal(peer, '/devnet/snapshot', {})).toEqual([409, expect.stringMatching(/^there are 1000 snapshots/)])
  await revert(990)
  expect(await take()).toBe(1001)
})

it('miners hear of a revert, and their earlier work is refused', async () => {
  const { devnet, peer, take, revert } = await start({ pow: false, difficulty: 1n })
  const id = await take()
  expect((await submit(peer, solve(await getWork(peer, 0)))).status).toBe(200)
  const work = await getWork(peer, 1)
  const body = Buffer.alloc(4)
  const stream = await OpenResponse.open(`${devnet.url}${PREFIX}/mining/updates`, { body })
  onTestFinished(() => stream.destroy())
  await revert(id)
  expect(await stream.read(1)).toBe('event:New Cut\n\n')
  expect(brief(await submit(peer, solve(work)))).toEqual([404, TEXT, 'No associated Payload'])
  expect((await submit(peer, solve(await getWork(peer, 1)))).status).toBe(200)
  expect([...devnet.chains.cut.values()].map(({ height }) => height)).toEqual([0n, 1n])
})

it('a network with proof of work can be reverted too', async () => {
  const { devnet, take, revert, make } = await start({ difficulty: 20n })
  await make({ 0: 2 })
  const id = await take()
  const heads = [...devnet.chains.cut.values()].map(({ height }) => height)
  await make({ 0: 3 })
  await revert(id)
  expect([...devnet.chains.cut.values()].map(({ height }) => height)).toEqual(heads)
  await make({ 0: 1 })
})

it('the clock goes back to the newest block after a revert without proof of work', async () => {
  const { devnet, peer, make, status } = await start()
  await make({ 0: 1, 1: 1 })
  const beforeMs = Date.now()
  await order(peer, '/devnet/clock', { advanceMs: HOUR_MS })
  const { aheadMs } = await order(peer, '/devnet/clock', { advanceMs: -HOUR_MS / 2 })
  expectAhead(aheadMs, HOUR_MS / 2)
  await make({ 0: 1 })
  const newestMs = Number(devnet.chains.cut.get(0)?.creationTime) / 1000
  expect(newestMs).toBeGreaterThan(beforeMs + HOUR_MS / 2)
  expect(newestMs).toBeLessThan(Date.now() + 60_000 + HOUR_MS / 2)
  const [code, text] = await refusal(peer, '/devnet/clock', { advanceMs: -HOUR_MS / 2 })
  expect(code).toBe(409)
  expect(text).toMatch(/^the clock can go back by at most \d+ ms: each block must be later than its parent/)
  expectAhead((await status()).clock.aheadMs, HOUR_MS / 2)
  await make({ 0: 1, 1: 1 })
  expect((await refusal(peer, '/devnet/clock', { advanceMs: -1e12 }))[0]).toBe(400)
})

it('the clock does not go back after a revert with proof of work', async () => {
  const { peer } = await start({ difficulty: 20n })
  expect(await refusal(peer, '/devnet/clock', { advanceMs: -1 })).toEqual([
    409,
    'with proof of work the clock goes forwards only: difficulty follows block times. A revert sets it back',
  ])
})
