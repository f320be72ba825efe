/** Tests of the tip jar on a development network. Simulations change nothing, so the tests need no order. */
import { readFileSync } from 'node:fs'
import { type Devnet, type SimulatedBlocks, startDevnet } from 'newcut/devnet'
import 'newcut/devnet/matchers/vitest'
import { callsOf } from 'newcut/wallet'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Functions } from '../contracts.d.ts'

type Commands = NonNullable<SimulatedBlocks[number]['chains']>[string]

const call = callsOf<Functions>()
const GAS = { name: 'coin.GAS', args: [] }

let devnet: Devnet
/** Account of the jar. */
let jar: string

beforeAll(async () => {
  devnet = await startDevnet({ port: 0, graph: 'singleton', autoMine: { kind: 'on-demand' } })
  const data = JSON.parse(readFileSync('deploy.json', 'utf8'))
  const code = readFileSync('contracts/tip-jar.pact', 'utf8')
  expect(await devnet.run({ chain: 0, code, data, keys: data.owner })).toSucceed()
  const [{ result }] = await simulate([{ code: call('free.tip-jar.jar') }])
  if (result.status === 'success') jar = String(result.data)
})

afterAll(() => devnet.close())

/** Simulates commands in one block. */
async function simulate(commands: Commands) {
  return (await devnet.simulate([{ chains: { 0: commands } }])).commands
}

/** A tip of sender01, who signs for it. */
function tip(amount: string): Commands[number] {
  const caps = [GAS, { name: 'coin.TRANSFER', args: ['sender01', jar, { decimal: amount }] }]
  const code = call('free.tip-jar.tip', 'sender01', { decimal: amount })
  return { code, sender: 'sender01', signers: [{ key: 'sender01', caps }] }
}

const empty = (to: string): Commands[number] => ({ code: call('free.tip-jar.empty', to), sender: to })

it('a tip moves coins into the jar', async () => {
  const [tipped] = await simulate([tip('2.5')])
  expect(tipped).toSucceed()
  expect(tipped).toMoveCoins({ sender01: -2.5, [jar]: 2.5 })
  expect(tipped).toEmit('free.tip-jar.TIP', ['sender01', 2.5])
})

it('a tip must be positive', async () => {
  const [refused] = await simulate([tip('0.0')])
  expect(refused).toFailWith('A tip must be positive')
})

it('the owner empties the jar, and nobody else does', async () => {
  const [, stolen, emptied] = await simulate([tip('2.5'), empty('sender02'), empty('sender00')])
  expect(stolen).toFailWith('Keyset failure')
  expect(emptied).toMoveCoins({ [jar]: -2.5, sender00: 2.5 })
  expect(emptied).toEmit('EMPTIED', ['sender00', expect.any(Number)])
})
