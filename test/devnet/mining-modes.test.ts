/** Blocks on arrival of commands, and changes of the mining mode while the node runs. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { roundsOf } from '../rotation.ts'
import { until } from '../wait.ts'
import { includesTransaction, sharedWatched, startWatched } from './arrival.ts'
import { exec, makeBlocks, send, transfer } from './commands-common.ts'
import { clockByHand, jsonOf, start } from './common.ts'
import { order, refusal } from './control-common.ts'
import { Peer } from './request.ts'

const onDemand = sharedWatched()

const key = ({ hash }: { readonly hash: string }) => hash
const onArrival = (confirmations: number) => ({ autoMine: { kind: 'on-arrival', confirmations } }) as const

describe('mining on arrival', () => {
  it('mining on arrival makes a block for a command at once, and the confirmations on every chain', async () => {
    const { peer, made, until } = await startWatched(onArrival(2))
    const command = transfer('sender01', 1)
    await send(peer, [command])
    await until(({ length }) => length === 5)
    const [first, ...others] = made()
    expect(first).toEqual({ chain: 0, by: 'auto-mine', requestKeys: [command.hash] })
    expect(others.map(({ chain }) => chain).sort()).toEqual([0, 0, 1, 1])
    expect(others.every(({ requestKeys }) => requestKeys.length === 0)).toBe(true)
  })

  it('mining on arrival makes one block for commands that come together', async () => {
    const { peer, made, until } = await startWatched(onArrival(0))
    const commands = [transfer('sender01', 1), transfer('sender02', 1), exec('(+ 1 2)')]
    await send(peer, commands)
    await until(({ length }) => length > 0)
    expect(made()).toHaveLength(1)
    expect(new Set(made()[0].requestKeys)).toEqual(new Set(commands.map(key)))
  })

  it('mining on arrival makes the block two milliseconds after the first command, whatever comes meanwhile', async () => {
    const { time, clock } = clockByHand()
    const { peer, made, until } = await startWatched(onArrival(0), { clock })
    const [first, second] = [transfer('sender01', 1), transfer('sender02', 1)]
    await send(peer, [first])
    await time.pass(1)
    await send(peer, [second])
    await time.pass(1)
    await until(includesTransaction(first.hash))
    expect(made()).toHaveLength(1)
    expect(new Set(made()[0].requestKeys)).toEqual(new Set([first.hash, second.hash]))
  })

  it('mining on arrival grows the chains that hold up the block', async () => {
    const { peer, made, until } = await startWatched(onArrival(0))
    // Chain 0 is now one block above chain 1, so it must wait for it.
    await makeBlocks(peer, { 0: 1 })
    const command = transfer('sender01', 1)
    await send(peer, [command])
    await until(includesTransaction(command.hash))
    expect(made().map(({ chain }) => chain)).toEqual([0, 1, 0])
  })

  it('mining on arrival gives way to blocks by order of the same chains', async () => {
    const { peer, control, made, until } = await startWatched({ ...onArrival(2), graph: 'petersen' })
    const commands = Array.from({ length: roundsOf(12, 5) }, (_, i) => transfer('sender01', i + 1))
    const orders: Promise<unknown>[] = []
    for (const command of commands) {
      const before = made().length
      await send(peer, [command])
      // The blocks after the first one are still to come.
      await until(({ length }) => length > before)
      // Every order is answered with blocks: none comes upon one that was made for another parent.
      orders.push(order(control, '/make-blocks', { 0: 2, 5: 1 }))
    }
    await Promise.all(orders)
    await until((blocks) => commands.every(({ hash }) => includesTransaction(hash)(blocks)))
    expect(
      made()
        .flatMap(({ requestKeys }) => requestKeys)
        .sort(),
    ).toEqual(commands.map(key).sort())
  })

  it('mining on arrival takes a slow command in the block that it makes for it', async () => {
    const { peer, made, until } = await startWatched(onArrival(0))
    const slow = exec('(length (map (+ 1) (enumerate 0 20000)))', { gasLimit: 150_000 })
    await send(peer, [slow])
    await until(includesTransaction(slow.hash))
    expect(made()).toHaveLength(1)
  })

  it('mining on arrival leaves a paused chain alone, and says so', async () => {
    const notices: string[] = []
    const { peer, control, made } = await startWatched({
      ...onArrival(0),
      onNotice: (message) => void notices.push(message),
    })
    await order(control, '/devnet/pause', { chain: 0 })
    await send(peer, [transfer('sender01', 1)])
    await until(() => notices.length > 0)
    expect(notices).toEqual(['no block on chain 0: chain 0 is paused'])
    expect(made()).toEqual([])
  })
})

describe('/devnet/mining', () => {
  it('/devnet/mining changes the mode, and takes what is pending', async () => {
    const { time, clock } = clockByHand()
    const { peer, control, made, until } = await startWatched({}, { clock })
    const command = transfer('sender01', 1)
    await send(peer, [command])
    expect(jsonOf(await control.get('/devnet/mining'))).toEqual({ mining: { mode: 'on-demand' } })
    const mining = { mode: 'on-arrival', confirmations: 5 }
    expect(await order(control, '/devnet/mining', { mode: 'on-arrival' })).toEqual({ mining })
    await time.pass(50)
    await until(includesTransaction(command.hash))
    const { mode } = jsonOf(await control.get('/devnet/status'))
    expect(mode).toBe('a block for each command at once, then 5 on every chain')
    const constant = { mode: 'constant', blockTimeMs: 20 }
    expect(await order(control, '/devnet/mining', constant)).toEqual({ mining: { ...constant, everyMs: 20 } })
    const { length } = made()
    await time.pass(200)
    expect(made().length).toBe(length + 20)
    // Each mode ends the one before.
    await order(control, '/devnet/mining', { mode: 'on-demand' })
    await time.pass(3_600_000)
    expect(made().length).toBe(length + 20)
  })

  it('/devnet/mining takes everyMs, the earlier name of blockTimeMs, and its own answer', async () => {
    const { control } = await onDemand()
    const mining = { mode: 'constant', blockTimeMs: 1_000_000, everyMs: 1_000_000 }
    expect(await order(control, '/devnet/mining', { mode: 'constant', everyMs: 1_000_000 })).toEqual({ mining })
    expect(await order(control, '/devnet/mining', mining)).toEqual({ mining })
  })

  it.each([
    [{ mode: 'constant' }, 'the mode constant needs blockTimeMs'],
    [{ mode: 'simulated', blockTimeMs: 3 }, 'blockTimeMs does not belong to the mode simulated'],
    [{ mode: 'constant', blockTimeMs: 3, everyMs: 4 }, 'everyMs is the earlier name of blockTimeMs: give one of them'],
    [{ mode: 'on-demand', confirmations: 3 }, 'confirmations does not belong to the mode on-demand'],
    [{ mode: 'often' }, '/mode must be one of on-demand, on-arrival, constant, simulated'],
    [{ mode: 'on-arrival', blocks: 1 }, '/blocks is not a known field'],
    [{ mode: 'on-arrival', confirmations: 101 }, '/confirmations must be <= 100'],
  ])('/devnet/mining refuses %j', async (body, text) => {
    const { control } = await onDemand()
    expect(await refusal(control, '/devnet/mining', body)).toEqual([400, expect.stringContaining(text)])
  })

  it('/devnet/mining leaves a network with proof of work to miners', async () => {
    const { devnet } = await start()
    const control = new Peer(devnet.url)
    onTestFinished(() => control.close())
    expect(jsonOf(await control.get('/devnet/mining'))).toEqual({ mining: null })
    expect(await refusal(control, '/devnet/mining', { mode: 'on-arrival' })).toEqual([
      409,
      expect.stringContaining('this network has proof of work'),
    ])
  })
})

it('/devnet/make-blocks returns the hashes of the blocks and their transactions', async () => {
  const { peer, control, devnet } = await onDemand()
  const command = transfer('sender01', 1)
  await send(peer, [command])
  const { made, blocks } = await order(control, '/devnet/make-blocks', { 0: 2 })
  expect(made).toEqual({ 0: 2, 1: 1 })
  expect(blocks[0].map(({ requestKeys }: { requestKeys: string[] }) => requestKeys)).toEqual([[command.hash], []])
  const head = devnet.chains.cut.get(0)
  expect(blocks[0][1]).toMatchObject({
    height: Number(head?.height),
    hash: Buffer.from(head?.hash ?? []).toString('base64url'),
  })
  expect(blocks[1]).toHaveLength(1)
})
