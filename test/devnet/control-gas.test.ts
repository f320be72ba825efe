/** The gas that a node takes: limit of its blocks and lowest price, over HTTP. */
import { rm } from 'node:fs/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkDataDirectory } from '../../src/devnet/data/check.ts'
import { sharedWatched, startWatched } from './arrival.ts'
import { exec, makeBlocks, ok, poll, send, transfer } from './commands-common.ts'
import { jsonOf } from './common.ts'
import { order, refusal } from './control-common.ts'
import { temporaryDirectory } from './grow.ts'
import { getWork, solve, submit } from './miner.ts'

const ledger = sharedWatched()
const preflight = (gasLimit: number) => exec('(+ 1 2)', { gasLimit })

describe('/devnet/gas', () => {
  it('/devnet/gas limits the gas of blocks, and of commands', async () => {
    const { peer, control, made } = await startWatched({ difficulty: 20n })
    const usual = { blockLimit: 150_000, minPrice: '0.00000001' }
    // A draft of the next block exists already, with the limit before.
    const commands = [transfer('sender01', 1), transfer('sender01', 2), transfer('sender01', 3)]
    await ok(send(peer, commands))
    const work = solve(await getWork(peer, 0))
    const gas = await order(control, '/devnet/gas', { blockLimit: 300 })
    expect(gas).toEqual({ ...usual, blockLimit: 300 })
    expect((await submit(peer, work)).status).toBe(404)
    expect(await order(control, '/devnet/gas', { minPrice: usual.minPrice })).toEqual(gas)
    const first = made().length
    await makeBlocks(peer, { 0: 1 })
    await makeBlocks(peer, { 0: 2 })
    const counts = made()
      .slice(first)
      .filter(({ chain }) => chain === 0)
      .map(({ requestKeys }) => requestKeys.length)
    expect(counts).toEqual([1, 1, 1])
    const refused = await send(peer, [preflight(301)])
    expect(refused.status).toBe(400)
    expect(refused.body.toString()).toContain('Transaction gas limit exceeds block gas limit (300)')
    await order(control, '/devnet/gas', { blockLimit: 150_000 })
    await ok(send(peer, [preflight(2501)]))
  })

  it('/devnet/gas refuses commands that pay less, and takes cheaper ones than live nodes do', async () => {
    const dataDir = await temporaryDirectory()
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
    const { peer, control, devnet } = await startWatched({ dataDir })
    expect(await order(control, '/devnet/gas', { minPrice: '0.0001' })).toMatchObject({ minPrice: '0.0001' })
    const usual = exec('1', { gasPrice: 0.00001 })
    const refused = await send(peer, [usual])
    expect(refused.body.toString()).toContain('is below minimum gas price (0.0001)')
    expect(await order(control, '/devnet/gas', { minPrice: 1e-12 })).toMatchObject({ minPrice: '0.000000000001' })
    const cheap = exec('2', { gasPrice: 1e-12 })
    await ok(send(peer, [usual, cheap]))
    await makeBlocks(peer, { 0: 1 })
    const results = await ok(poll(peer, [cheap.hash]))
    expect(results[cheap.hash].result).toEqual({ status: 'success', data: { int: 2 } })
    // Its block is valid whatever a node demands.
    await order(control, '/devnet/gas', { minPrice: 1 })
    await order(control, '/devnet/fork', { chain: 0, depth: 1 })
    await makeBlocks(peer, { 0: 1 })
    expect(Object.keys(await ok(poll(peer, [cheap.hash])))).toEqual([cheap.hash])
    await devnet.close()
    expect(await checkDataDirectory(dataDir)).toMatchObject({ findings: [] })
  })

  it('/devnet/gas leaves privileged code its gas, also when it fails in a block that has little left', async () => {
    const { peer, control } = await startWatched()
    await order(control, '/devnet/gas', { blockLimit: 2500 })
    await send(peer, [transfer('sender01', 1)])
    const code = '(fold (lambda (a b) (+ a b)) 0 (enumerate 1 20000))'
    const ran = await order(control, '/devnet/run', { chain: 0, code })
    expect(ran.result.status).toBe('success')
    expect(ran.gas).toBeGreaterThan(2500)
    const failed = await order(control, '/devnet/run', { chain: 0, code: '(enforce false "on purpose")' })
    expect(failed.result.error.message).toContain('on purpose')
  })

  it('/devnet/gas is part of the status, with the keys that are impersonated', async () => {
    const { control } = await startWatched({ impersonate: ['*'] })
    const status = async () => jsonOf(await control.request('GET', '/devnet/status'))
    expect(await status()).toMatchObject({
      impersonated: ['*'],
      gas: { blockLimit: 150_000, minPrice: '0.00000001' },
    })
    await order(control, '/devnet/gas', { blockLimit: 7, minPrice: '0.5' })
    await order(control, '/devnet/impersonate', { keys: ['*'], on: false })
    expect(await status()).toMatchObject({ impersonated: [], gas: { blockLimit: 7, minPrice: '0.5' } })
  })

  it.each([
    [{}, 'expected blockLimit, minPrice or both'],
    [{ blockLimit: 150_001 }, '/blockLimit: 150001: expected at most 150000, the limit of the network'],
    [{ blockLimit: 0 }, '/blockLimit'],
    [{ blockLimit: 1.5 }, '/blockLimit'],
    [{ minPrice: 0 }, '/minPrice: 0: expected a multiple of 1e-12 above 0'],
    [{ minPrice: -1 }, '/minPrice: -1: expected'],
    [{ minPrice: '0.0000000000001' }, '/minPrice: 0.0000000000001: expected'],
    [{ minPrice: 'free' }, '/minPrice: free: expected'],
    [{ minprice: 1 }, 'minprice'],
  ])('/devnet/gas refuses %j: %s', async (body, text) => {
    const { control } = await ledger()
    expect(await refusal(control, '/devnet/gas', body)).toEqual([400, expect.stringContaining(text)])
  })
})
