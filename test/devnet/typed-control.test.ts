/** Orders to a network from the process that started it. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type DevnetOptions, startDevnet } from '../../src/compose/devnet.ts'
import { funded } from './command.ts'
import { exec } from './commands-common.ts'

async function start(options: DevnetOptions = {}) {
  const devnet = await startDevnet({ port: 0, graph: 'pair', autoMine: { kind: 'on-demand' }, ...options })
  onTestFinished(() => devnet.close())
  return devnet
}

const heightOf = ({ cut }: Awaited<ReturnType<typeof start>>) => Number(cut.get(0)?.height)

it('the typed control makes blocks, and keeps the properties of the network live', async () => {
  const devnet = await start()
  const { made, blocks, heights } = await devnet.mine({ 0: 2 })
  expect(made).toEqual({ 0: 2, 1: 1 })
  expect(heights).toEqual({ 0: 2, 1: 1 })
  expect(blocks[0].map(({ height }) => height)).toEqual([1, 2])
  expect(heightOf(devnet)).toBe(2)
})

it('the typed control sets the clock', async () => {
  const devnet = await start()
  const NEW_YEAR = Date.parse('2040-01-01T00:00:00Z')
  expect((await devnet.time.controlsOf(new Date(NEW_YEAR))).nowMs).toBeGreaterThanOrEqual(NEW_YEAR)
  const { aheadMs } = await devnet.time.advance(3_600_000)
  expect((await devnet.time.advance(-1_800_000)).aheadMs).toBeLessThan(aheadMs)
  await devnet.time.nextBlock('2041-01-01T00:00:00Z')
  await devnet.mine({ 0: 1 })
  const timeOf = () => Number(devnet.cut.get(0)?.creationTime) / 1000
  expect(timeOf()).toBe(Date.parse('2041-01-01T00:00:00Z'))
  expect((await devnet.time.every(5000)).everyMs).toBe(5000)
  expect((await devnet.time.every(null)).everyMs).toBeUndefined()
})

it('the typed control impersonates, drops and runs code', async () => {
  const devnet = await start()
  expect(await devnet.impersonate(['*'])).toEqual(['*'])
  expect(await devnet.impersonate(['*'], false)).toEqual([])
  expect(await devnet.drop('all')).toEqual({ dropped: {}, notPending: [] })
  const { hash } = exec('1')
  expect(await devnet.drop([hash])).toEqual({ dropped: {}, notPending: [hash] })
  const { result, height } = await devnet.run({ chain: 0, code: '(+ 1 2)' })
  expect(result).toEqual({ status: 'success', data: { int: 3 } })
  expect(height).toBe(1)
})

it('the typed control returns pacts in pages', async () => {
  const devnet = await start()
  const begin = (chain: number) =>
    devnet.run({
      chain,
      keys: [funded.publicKey],
      code: `(coin.transfer-crosschain "sender00" "sender00" (at "guard" (coin.details "sender00")) "${1 - chain}" 1.0)`,
      caps: [{ name: 'coin.TRANSFER_XCHAIN', args: ['sender00', 'sender00', { decimal: '1.0' }, String(1 - chain)] }],
    })
  const keys = [(await begin(0)).requestKey, (await begin(1)).requestKey]
  const first = await devnet.pacts({ open: true, limit: 1 })
  expect(first.open).toBe(2)
  expect(first.pacts.map(({ pactId }) => pactId)).toEqual([keys[1]])
  const { pacts, next } = await devnet.pacts({ next: first.next ?? '' })
  expect(pacts.map(({ pactId, name }) => [pactId, name])).toEqual([[keys[0], 'coin.transfer-crosschain']])
  expect(next).toBe(null)
  await expect(devnet.pacts({ limit: 0 })).rejects.toMatchObject({ code: 'NODE_REFUSED' })
})

it('the typed control writes rows, and mints coins', async () => {
  const devnet = await start()
  const written = await devnet.rows(1, 'coin.coin-table', { sender01: { balance: 2.5 } })
  expect(written.written).toBe(1)
  expect(written.height).toBe(1)
  const { result } = await devnet.fund('sender01', 0.5, 1)
  expect(result).toEqual({ status: 'success', data: 3 })
  expect((await devnet.fund('sender01', '1.000000000001')).height).toBe(2)
  await expect(devnet.fund('nobody', 1)).rejects.toMatchObject({
    code: 'NODE_REFUSED',
    message: expect.stringContaining('nobody got no coins: No value found in table'),
  })
})

it('the typed control runs a fixture once, and restores the network after it', async () => {
  const devnet = await start()
  let runs = 0
  const inner = async () => {
    runs++
    await devnet.mine({ 0: 1, 1: 1 })
    return { height: heightOf(devnet) }
  }
  const outer = () => devnet.mine({ 0: 3, 1: 3 })
  expect(await devnet.loadFixture(inner)).toEqual({ height: 1 })
  await devnet.loadFixture(outer)
  expect(heightOf(devnet)).toBe(4)
  await devnet.mine({ 0: 1 })
  await devnet.loadFixture(outer)
  expect(heightOf(devnet)).toBe(4)
  // Going back to an earlier fixture forgets later ones.
  expect(await devnet.loadFixture(inner)).toEqual({ height: 1 })
  expect(heightOf(devnet)).toBe(1)
  expect(runs).toBe(1)
  await devnet.loadFixture(outer)
  expect(heightOf(devnet)).toBe(4)
  // So does a snapshot that was taken before them.
  const id = await devnet.snapshot()
  await devnet.loadFixture(async () => devnet.mine({ 0: 2 }))
  expect((await devnet.revert(id)).heights).toEqual({ 0: 4, 1: 4 })
})

it('the typed control throws the text of a refusal', async () => {
  const devnet = await start()
  await expect(devnet.revert(7)).rejects.toMatchObject({
    code: 'NODE_REFUSED',
    message: expect.stringContaining('the network refused /devnet/revert with status 409: there is no snapshot 7'),
  })
})

describe('after the network is closed', () => {
  const closed = { name: 'NewcutError', code: 'NODE_UNREACHABLE', message: 'the network is closed' }

  it('an order in progress when the network closes ends with an error that says so', async () => {
    // A forked node that never answers holds the order.
    const silent = createServer()
    const isAsked = once(silent, 'request')
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void silent.close().closeAllConnections())
    const devnet = await start()
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const order = devnet.reset({ fork: { url } }).catch((error: unknown) => error)
    await isAsked
    await devnet.close()
    expect(await order).toMatchObject(closed)
  })

  it('an order after the network is closed says so, and sends nothing to the port, which another program may have', async () => {
    const devnet = await start()
    await devnet.close()
    const seen: (string | undefined)[] = []
    const other = createServer(({ url }, response) => {
      seen.push(url)
      response.end('{}')
    })
    await new Promise<void>((resolve) => other.listen(Number(new URL(devnet.url).port), '127.0.0.1', resolve))
    onTestFinished(() => void other.close().closeAllConnections())
    const orders = [
      () => devnet.mine({ 0: 1 }),
      () => devnet.time.advance(1),
      () => devnet.impersonate([]),
      () => devnet.drop('all'),
      () => devnet.run({ chain: 0, code: '1' }),
      () => devnet.fund('sender00', 1),
      () => devnet.gas({}),
      () => devnet.pacts(),
      () => devnet.state(),
      () => devnet.snapshot(),
      () => devnet.revert(0),
      () => devnet.reset(),
    ]
    for (const order of orders) await expect(order()).rejects.toMatchObject(closed)
    expect(seen).toEqual([])
  })
})
