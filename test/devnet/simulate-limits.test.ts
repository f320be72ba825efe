/** Limits of `POST /devnet/simulate`, and what it refuses. */
import { expect, it } from 'vitest'
import { developmentAccount } from '../../src/devnet/control/block-maker.ts'
import { rulesFor } from '../../src/devnet/rules/network-rules.ts'
import { simulateBlocks } from '../../src/devnet/simulation/simulator.ts'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'
import type { Change } from './command.ts'
import { exec, sharedLedger, startLedger, transfer } from './commands-common.ts'
import { order, refusal } from './control-common.ts'
import { CROSS, on0, simulatorOf } from './simulation.ts'

const ledger = sharedLedger()

it('a command that no node would take changes nothing, and the others run', async () => {
  const { simulate } = simulatorOf(await ledger())
  const sent = transfer('sender01', 1)
  const { commands } = await simulate(
    on0(
      { cmd: exec('1', { chainId: '1' }) },
      { cmd: exec('1', { gasLimit: 150_001 }) },
      { code: '(coin.transfer', sender: 'sender00' },
      { code: '1', sender: 'nobody' },
      { cmd: sent },
      { cmd: sent },
      { cmd: sent.cmd },
    ),
  )
  const reasons = commands.map(({ isInBlock, gas, result }: { isInBlock: boolean; gas: number; result: Change }) =>
    isInBlock ? result.status : [gas, (result.error as Change).type, (result.error as Change).message],
  )
  expect(reasons).toEqual([
    [0, 'Refused', 'Chain id mismatch'],
    [0, 'Refused', 'Transaction Gas limit exceeds block gas limit'],
    [0, 'Refused', expect.stringContaining('Pact parse error')],
    [0, 'Refused', expect.stringContaining('Failed to buy gas')],
    'success',
    [0, 'Refused', `the transaction ${sent.hash} is on this chain already`],
    [0, 'Refused', `the transaction ${sent.hash} is on this chain already`],
  ])
})

it('a wrong request is refused with its place', async () => {
  const { refused, plain } = simulatorOf(await ledger())
  const wrong = async (block: Change) => (await refused(block)).join(' ')
  expect(await wrong(on0({}))).toBe(
    '400 /blocks/0/chains/0/0: expected one of code, continue and cmd, got none of them',
  )
  expect(await wrong(on0({ code: '1', cmd: '2' }))).toContain('got code and cmd')
  expect(await wrong(on0({ code: '1', sender: 'a', admin: ['coin'] }))).toContain(
    '/0/admin: privileges go without a sender',
  )
  expect(await wrong(on0({ cmd: exec('1'), sender: 'a' }))).toContain('/0/sender: a complete command has its own')
  expect(await wrong(on0({ code: '1', keys: [] }))).toContain('/0/keys: it goes with cmd')
  expect(await wrong(on0({ code: '1', gasPrice: 1 }))).toContain('nobody pays without a sender')
  expect(await wrong(on0({ code: '1', signers: ['sender0'] }))).toContain('did you mean sender00?')
  expect(await wrong(on0({ code: '(' }))).toContain('/blocks/0/chains/0/0/code: ')
  expect(await wrong(on0({ cmd: '{}' }))).toContain('/blocks/0/chains/0/0/cmd: ')
  expect(await wrong(on0({ cmd: { ...exec('1'), hash: exec('1').hash } }))).toContain(
    'its hash is not that of its text',
  )
  expect(await wrong(on0({ code: '1', caps: [{ name: 'x', args: [] }] }))).toContain('/caps/0/name')
  expect(await wrong({ chains: { 7: [] } })).toBe(
    '400 /blocks/0/chains: there is no chain "7": the network has 2, from 0',
  )
  expect(await wrong({ time: 'noon' })).toContain('/blocks/0/time: "noon" is not a time')
  expect(await wrong({ rows: { 0: { 'coin.coin-tabel': {} } } })).toContain('did you mean coin-table?')
  expect(await wrong({ rows: { 0: { 'coin.coin-table': { a: { balance: 1 } } } } })).toContain(
    'a new row needs all fields',
  )
  expect(await wrong(on0({ continue: { pact: 'burm' } }))).toContain('neither the name of an earlier command')
  const twice = [
    { ...CROSS, name: 'burn' },
    { code: '1', name: 'burn' },
  ]
  expect(await wrong(on0(...twice))).toContain('/1/name: an earlier command has the name burn too')
  const same = { chains: { 0: [{ ...CROSS, name: 'burn' }], 1: [{ continue: { pact: 'burn' } }] } }
  expect(await wrong(same)).toContain('its proof holds from the next block on')
  expect((await refusal(plain, '/devnet/simulate', { blocks: [] }))[0]).toBe(400)
  expect(await wrong(on0(...Array.from({ length: 1001 }, () => ({ code: '1' }))))).toContain('1001 commands')
})

it('a simulation beyond the limit of gas is refused, and the node goes on', async () => {
  const { refused, simulate } = simulatorOf(await ledger())
  const failing = { code: '(enforce false "no")', sender: 'sender00' }
  const [status, text] = await refused(on0(...Array.from({ length: 101 }, () => failing)))
  expect([status, text]).toEqual([409, 'the commands take more than 15000000 gas: simulate fewer of them at a time'])
  expect((await simulate(on0({ code: '1' }))).commands).toHaveLength(1)
})

it('the node serves others while a long simulation runs, and a caller that leaves ends it', async () => {
  const { plain, devnet } = simulatorOf(await ledger())
  const slow = { code: '(length (map (+ 1) (enumerate 1 40000)))' }
  const leaving = new AbortController()
  const body = JSON.stringify({ blocks: [on0(...Array.from({ length: 1000 }, () => slow))] })
  const simulation = fetch(`${devnet.url}/devnet/simulate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal: leaving.signal,
  })
  const ended = simulation.then(
    () => 'answered',
    () => 'left',
  )
  // Its turn comes after the simulation, whose caller has left by then.
  const next = order(plain, '/devnet/simulate', { blocks: [on0({ code: '(+ 1 1)' })] })
  for (let i = 0; i < 5; i++) expect((await fetch(`${devnet.url}/info`)).status).toBe(200)
  leaving.abort()
  expect(await ended).toBe('left')
  expect((await next).commands[0].result.data).toEqual({ int: 2 })
})

it('a simulation whose signal is aborted runs no further command', async () => {
  const { devnet } = await ledger()
  const { chains, ledger: state } = devnet
  const parts = {
    chains,
    ledger: state,
    pools: { gas: { blockLimit: 150_000, minPrice: Decimal.of(0n) } },
    rules: rulesFor(chains.network, '3.2'),
    fork: null,
    account: developmentAccount,
    simulate: () => Promise.reject(new Error('a command runs')),
  }
  const request = { blocks: [on0({ code: '1' })] }
  const reason = new Error('left')
  await expect(simulateBlocks(parts, request, AbortSignal.abort(reason))).rejects.toBe(reason)
  await expect(simulateBlocks(parts, request, new AbortController().signal)).rejects.toThrow('a command runs')
})

it('a command that runs too long is refused, and the simulation goes on', async () => {
  const started = await startLedger({ graph: 'singleton' }, { commandLimits: { cpuMs: 1, memoryMb: 512 } })
  const { simulate } = simulatorOf(started)
  const { commands } = await simulate(on0({ code: '(length (map (+ 1) (enumerate 1 90000)))' }))
  expect(commands[0]).toMatchObject({ isInBlock: false, gas: 0, result: { error: { type: 'Refused' } } })
})
