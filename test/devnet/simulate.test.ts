/** `POST /devnet/simulate`: commands in temporary blocks. */
import { gunzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startDevnet } from '../../src/compose/devnet.ts'
import { startFork, startRemote } from '../copy/network.ts'
import { type Change, funded } from './command.ts'
import {
  exec,
  makeBlocks,
  ok,
  poll,
  send,
  sharedLedger,
  signers,
  spv,
  startLedger,
  transfer,
} from './commands-common.ts'
import { PREFIX } from './common.ts'
import { order } from './control-common.ts'
import { OpenResponse, Peer } from './request.ts'
import { CROSS, CROSS_CODE, GAS, GUARD, on0, PAY, simulatorOf } from './simulation.ts'

const ledger = sharedLedger()

/** Everything that clients of a node can read. */
async function observe(peer: Peer) {
  const paths = [
    '/devnet/status',
    '/info',
    '/config',
    '/devnet/transactions',
    '/devnet/modules?chain=0',
    '/devnet/table?chain=0&name=coin.coin-table',
    '/devnet/pacts',
    `${PREFIX}/cut`,
    `${PREFIX}/chain/0/header`,
    `${PREFIX}/chain/1/hash`,
  ]
  const texts: Record<string, string> = {}
  for (const path of paths) {
    const answer = await peer.request('GET', path)
    expect(answer.status, path).toBe(200)
    texts[path] = answer.body
      .toString()
      .replace(/"(nowMs|aheadMs)":[-\d.]+/g, '')
      .replace(/"nodeServiceDate":"[^"]*"/, '')
  }
  const { body } = await peer.request('GET', '/devnet/state')
  const pending = await peer.request('POST', `${PREFIX}/chain/0/mempool/getPending`, { body: '' })
  return { texts, state: gunzipSync(body).toString('base64'), pending: pending.body.toString() }
}

describe('a simulation', () => {
  it('a simulation runs commands over blocks and chains, and each block finds what the one before wrote', async () => {
    const { simulate } = simulatorOf(await ledger())
    const { base, gas, commands } = await simulate(
      { chains: { 0: [{ ...PAY, name: 'pay' }, { code: '(coin.get-balance "sender01")' }], 1: [{ code: '(+ 1 2)' }] } },
      on0({ code: '(coin.get-balance "sender01")' }),
    )
    expect(Object.keys(base)).toEqual(['0', '1'])
    const places = commands.map(({ name, block, chain, height }: Change) => [name, block, chain, height])
    expect(places).toEqual([
      ['pay', 0, 0, base[0].height + 1],
      [null, 0, 0, base[0].height + 1],
      [null, 0, 1, base[1].height + 1],
      [null, 1, 0, base[0].height + 2],
    ])
    expect(commands.map(({ result }: Change) => (result as Change).data)).toEqual([
      'Write succeeded',
      110_000_001.5,
      { int: 3 },
      110_000_001.5,
    ])
    expect(gas).toBe(commands.reduce((sum: number, each: { gas: number }) => sum + each.gas, 0))
    const [{ rows, events, isInBlock, printed, trace }] = commands
    expect({ isInBlock, printed, trace }).toEqual({ isInBlock: true, printed: [], trace: undefined })
    expect(events.map(({ name, params }: Change) => [name, params])).toContainEqual([
      'TRANSFER',
      ['sender00', 'sender01', 1.5],
    ])
    const guard = { pred: 'keys-all', keys: [expect.any(String)] }
    expect(rows).toContainEqual({
      table: 'coin.coin-table',
      key: 'sender01',
      before: { guard, balance: 110_000_000 },
      after: { guard, balance: 110_000_001.5 },
    })
  })

  it('a simulation leaves the node as it was: chains, pools, state and streams', async () => {
    const { peer, devnet } = await startLedger()
    const { plain, simulate } = simulatorOf({ devnet })
    await ok(send(peer, [transfer('sender01', 1)]))
    const stream = await OpenResponse.open(`${devnet.url}${PREFIX}/header/updates`)
    onTestFinished(() => stream.destroy())
    const before = await observe(plain)
    const { commands } = await simulate(
      {
        time: '2031-01-01T00:00:00Z',
        rows: { 0: { 'coin.coin-table': { sender01: null } } },
        chains: { 0: [PAY, CROSS], 1: [{ code: '(namespace "free") (module m G (defcap G () true))' }] },
      },
      { chains: { 1: [{ code: 'free.m' }] } },
    )
    expect(commands.map(({ isInBlock }: Change) => isInBlock)).toEqual([true, true, true, true])
    expect(await observe(plain)).toEqual(before)
    // The next event is that of the next real block.
    await makeBlocks(peer, { 0: 1 })
    await expect.poll(() => stream.text).toContain('data:')
    expect(stream.text.match(/data:/g)).toHaveLength(1)
    expect(stream.text).toContain(String(devnet.cut.get(0)?.height))
  })

  it('a pact of one simulated block continues with its proof on another chain, for the gas of the network', async () => {
    const { peer, devnet } = await startLedger({ graph: 'triangle' })
    const { simulate } = simulatorOf({ devnet })
    const { commands } = await simulate(on0({ ...CROSS, name: 'burn' }), {
      chains: { 1: [{ continue: { pact: 'burn' }, sender: 'sender00', signers: [{ key: 'sender00', caps: [GAS] }] }] },
    })
    expect(commands.map(({ result }: Change) => (result as Change).status)).toEqual(['success', 'success'])
    const capability = ['coin.TRANSFER_XCHAIN', 'sender00', 'sender00', { decimal: '2.5' }, '1'] as const
    const burn = exec(
      CROSS_CODE,
      {},
      {
        payload: { exec: { code: CROSS_CODE, data: { guard: GUARD } } },
        ...signers(['coin.GAS'], capability),
      },
    )
    await ok(send(peer, [burn]))
    await makeBlocks(peer, { 0: 1 })
    await makeBlocks(peer, { 1: 2 })
    const burnt = (await ok(poll(peer, [burn.hash])))[burn.hash]
    const proof = await ok(spv(peer, { requestKey: burn.hash, targetChainId: '1' }))
    const cont = { pactId: burn.hash, step: 1, rollback: false, data: {}, proof }
    const mint = exec('', { chainId: '1', gasLimit: 2000 }, { payload: { cont }, ...signers(['coin.GAS']) })
    await ok(send(peer, [mint], 1))
    await makeBlocks(peer, { 1: 1 })
    const minted = (await ok(poll(peer, [mint.hash], '', 1)))[mint.hash]
    expect(minted.result.status).toBe('success')
    // Nonces and limits differ in length: a gas is a hundred bytes.
    expect(Math.abs(commands[0].gas - burnt.gas)).toBeLessThanOrEqual(1)
    expect(Math.abs(commands[1].gas - minted.gas)).toBeLessThanOrEqual(2)
    expect(commands[1].events.map(({ name }: Change) => name)).toEqual(minted.events.map(({ name }: Change) => name))
  })

  it('a simulated command takes the gas that it takes in a block, signed or not', async () => {
    const { peer, devnet } = await startLedger({ graph: 'singleton' })
    const { simulate } = simulatorOf({ devnet })
    const sent = transfer('sender01', 1)
    const commands = [{ cmd: sent }, { cmd: sent.cmd }, { cmd: { ...sent, sigs: [null] } }]
    const gas = await Promise.all(commands.map(async (each) => (await simulate(on0(each))).commands[0].gas))
    await ok(send(peer, [sent]))
    await makeBlocks(peer, { 0: 1 })
    const result = (await ok(poll(peer, [sent.hash])))[sent.hash]
    expect(gas).toEqual([result.gas, result.gas, result.gas])
  })

  it('a pact continues on its own chain, and rolls back, by the name of its command', async () => {
    const { simulate } = simulatorOf(await ledger())
    const code = `(namespace "free")
      (module swap G (defcap G () true)
        (defpact deal () (step-with-rollback (yield { "a": 1 }) "undone") (step (resume { "a" := a } (+ a 1)))))`
    const { commands } = await simulate(
      on0({ code }, { code: '(free.swap.deal)', name: 'a' }, { code: '(free.swap.deal)', name: 'b' }),
      on0({ continue: { pact: 'a' } }, { continue: { pact: 'b', rollback: true } }, { continue: { pact: 'a' } }),
    )
    const outcomes = commands
      .slice(3)
      .map(({ result }: { result: Change }) => result.data ?? (result.error as Change).message)
    expect(outcomes).toEqual([{ int: 2 }, 'undone', expect.stringContaining('already')])
  })

  it('a simulated command finds rows, a time and signers of the request, and a row set to null is absent', async () => {
    const { simulate } = simulatorOf(await ledger())
    const { commands } = await simulate(
      {
        time: '2030-01-01T00:00:00Z',
        rows: { 0: { 'coin.coin-table': { alice: { balance: 7.25, guard: GUARD }, sender03: null } } },
        chains: {
          0: [
            { code: '(coin.get-balance "alice")' },
            { code: '(at "block-time" (chain-data))' },
            { code: '(coin.details "sender03")' },
            {
              code: '(enforce-keyset (read-keyset "guard"))',
              data: { guard: GUARD },
              signers: [`k:${funded.publicKey}`],
            },
            {
              cmd: exec(
                '(coin.transfer "alice" "sender01" 7.0)',
                { sender: 'alice' },
                signers(['coin.GAS'], ['coin.TRANSFER', 'alice', 'sender01', 7]),
              ),
            },
            {
              cmd: exec(
                '(enforce-keyset (read-keyset "guard"))',
                {},
                {
                  payload: {
                    exec: {
                      code: '(enforce-keyset (read-keyset "guard"))',
                      data: { guard: { pred: 'keys-all', keys: ['ab'.repeat(32)] } },
                    },
                  },
                },
              ),
              keys: ['ab'.repeat(32)],
            },
          ],
        },
      },
      on0({ code: '(coin.get-balance "alice")' }, { code: '(at "block-time" (chain-data))' }),
    )
    const outcomes = commands.map(({ result }: { result: Change }) => result.data ?? (result.error as Change).message)
    expect(outcomes).toEqual([
      7.25,
      { time: '2030-01-01T00:00:00Z' },
      expect.stringContaining('No value found in table'),
      true,
      'Tx time outside of valid range',
      'Tx time outside of valid range',
      7.25,
      { time: '2030-01-01T00:00:30Z' },
    ])
    const now = await simulate({
      rows: { 0: { 'coin.coin-table': { alice: { balance: 7.25, guard: GUARD } } } },
      chains: { 0: commandsOfNow() },
    })
    expect(now.commands.map(({ result }: { result: Change }) => result.status)).toEqual(['success', 'success'])
  })

  it('the keys of the sender sign by default, and a privileged command pays nothing and has its capabilities', async () => {
    const { simulate } = simulatorOf(await ledger())
    const guarded = '(enforce-guard (at "guard" (coin.details "sender02")))'
    const mint = '(coin.coinbase "sender01" (at "guard" (coin.details "sender01")) 1.0)'
    const { commands } = await simulate(
      on0(
        { code: guarded, sender: 'sender02' },
        { code: guarded, sender: 'sender01' },
        { code: mint, caps: [{ name: 'coin.COINBASE', args: [] }] },
        { code: mint },
        { code: '(update coin.coin-table "sender01" { "balance": 1.0 })', admin: ['coin'] },
      ),
    )
    const statuses = commands.map(({ result }: { result: Change }) => result.status)
    expect(statuses).toEqual(['success', 'failure', 'success', 'failure', 'success'])
    const fees = commands.map(({ rows }: { rows: Change[] }) => rows.some(({ key }) => String(key).startsWith('k:')))
    expect(fees).toEqual([true, true, false, false, false])
    const price = 0.00000001
    expect(commands[0].fee).toBeCloseTo(commands[0].gas * price, 12)
    expect(commands.map(({ fee }: Change) => fee).slice(2)).toEqual([0, 0, 0])
  })

  it('a simulation returns the steps of each command if it is asked for traces', async () => {
    const { plain } = simulatorOf(await ledger())
    const { commands } = await order(plain, '/devnet/simulate', {
      trace: true,
      blocks: [on0(PAY, { code: '(+ 1 2)' })],
    })
    const [paid, sum] = commands
    expect(paid.trace).toMatchObject({ name: 'transaction', gasTotal: paid.gas * 1000 })
    expect(paid.trace.children.map(({ name }: Change) => name)).toContain('buy gas')
    expect(sum.trace.children.map(({ name }: Change) => name)).toContain('privileged code')
  })
})

/** Signed commands that are valid now. */
function commandsOfNow() {
  const code = '(enforce-keyset (read-keyset "guard"))'
  const data = { guard: { pred: 'keys-all', keys: ['ab'.repeat(32)] } }
  const moving = exec(
    '(coin.transfer "alice" "sender01" 7.0)',
    { sender: 'alice' },
    signers(['coin.GAS'], ['coin.TRANSFER', 'alice', 'sender01', 7]),
  )
  return [
    { cmd: { ...moving, sigs: [null] } },
    { cmd: exec(code, {}, { payload: { exec: { code, data } } }).cmd, keys: ['ab'.repeat(32)] },
  ]
}

it('a simulation on a fork reads the state of the other network, and leaves both as they are', async () => {
  const { devnet } = await startFork(await startRemote())
  const plain = new Peer(devnet.url)
  onTestFinished(() => plain.close())
  const heights = [...devnet.cut].map(([chain, { height }]) => [chain, height])
  const { commands } = await order(plain, '/devnet/simulate', {
    blocks: [
      on0({ ...PAY, name: 'pay' }),
      on0({ code: '(free.fork-token.names)' }, { code: '(coin.get-balance "sender01")' }),
    ],
  })
  expect(commands.map(({ result }: Change) => (result as Change).status)).toEqual(['success', 'success', 'success'])
  expect([...devnet.cut].map(([chain, { height }]) => [chain, height])).toEqual(heights)
})

it('the typed control simulates blocks', async () => {
  const devnet = await startDevnet({ port: 0, graph: 'singleton', autoMine: { kind: 'on-demand' } })
  onTestFinished(() => devnet.close())
  const keyset = { code: '(namespace "free") (define-keyset "free.k" (read-keyset "k"))', data: { k: [] } }
  const { commands } = await devnet.simulate([{ chains: { 0: [{ code: '(+ 1 2)' }, keyset] } }], { trace: true })
  expect(commands[0].result).toEqual({ status: 'success', data: { int: 3 } })
  expect(commands[0].trace?.name).toBe('transaction')
  expect(commands[1].entries.map(({ kind, key }) => `${kind} ${key}`)).toEqual(['keyset free.k'])
})

it('a simulated command prints into its result, and nowhere else', async () => {
  const prints: unknown[] = []
  const options = { allowPrint: true, onPrint: (event: unknown) => void prints.push(event) }
  const devnet = await startDevnet({ port: 0, graph: 'singleton', autoMine: { kind: 'on-demand' }, ...options })
  onTestFinished(() => devnet.close())
  const { commands } = await devnet.simulate([{ chains: { 0: [{ code: '(print "simulated")' }] } }])
  expect(commands[0].printed).toEqual(['simulated'])
  await devnet.run({ chain: 0, code: '(print "real")' })
  await expect.poll(() => prints).toHaveLength(1)
})
