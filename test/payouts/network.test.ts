/** A pool on the embedded network: three rigs, an orphan, and everybody is paid to the last unit. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { unitsOf } from '../../src/payouts/coins.ts'
import { readPayments } from '../../src/payouts/payments.ts'
import type { Report } from '../../src/payouts/report.ts'
import { type Ended, run } from '../cli/run.ts'
import { keyPair, PoolGround } from './pool-ground.ts'

let ground: PoolGround
beforeEach(async () => {
  ground = await PoolGround.start()
  // Commands are made some seconds ago, and have to be younger than the first blocks allow.
  await ground.bury(2)
})
afterEach(() => ground.close())

const [ann, ben, cleo] = [1, 2, 3].map(keyPair)

const payouts = (...args: string[]): Promise<Ended> =>
  run(['payouts', '--node', ground.devnet.url, '--state', ground.state, '--confirmations', '3', ...args])

async function report(...args: string[]): Promise<Report> {
  const { code, out, err } = await payouts('--json', '--account', ground.pool.account, ...args)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

/** Runs `--pay` while blocks are made, so that its commands get in. */
async function pay(...args: string[]): Promise<Ended> {
  let isOver = false
  const paying = payouts('--pay', '--key', ground.keyFile, ...args).finally(() => {
    isOver = true
  })
  while (!isOver) {
    await ground.bury(1)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return await paying
}

const sum = (amounts: readonly string[]) => amounts.reduce((total, amount) => total + (unitsOf(amount) ?? 0n), 0n)

it('three rigs mine, a block is orphaned, and everybody is paid to the last unit', async () => {
  // Round one: a block on chain 0. Round two: one that is orphaned. Round three: one on chain 1.
  const first = await ground.mine(0)
  await ground.keep(
    ground.share(ann.account, 30),
    ground.share(ben.account, 20),
    ground.share(cleo.key.publicKey, 7, first),
  )
  await ground.bury(1)
  const lost = await ground.mine(1)
  await ground.keep(ground.share(ben.account, 50), ground.share(ann.account, 13, lost))
  await ground.orphan(1, 1)
  const third = await ground.mine(1)
  await ground.keep(ground.share('nobody', 11), ground.share(cleo.account, 9, third))
  await ground.bury(4)
  for (const chain of ground.chains) await ground.fund(chain)
  const before = await report('--scheme', 'prop', '--fee', '1')
  expect(before.blocks.map(({ block, state }) => [block, state])).toEqual([
    [first.block, 'credited'],
    [lost.block, 'orphaned'],
    [third.block, 'credited'],
  ])
  for (const { reward, division } of before.blocks) {
    if (division === null) continue
    expect(sum([division.fee, division.rest, ...division.parts.map(({ amount }) => amount)])).toBe(
      unitsOf(reward ?? ''),
    )
  }
  expect(before.balances.map(({ chain, state }) => [chain, state])).toEqual([
    ...[0, 0, 0].map((chain) => [chain, 'due']),
    ...[1, 1, 1].map((chain) => [chain, 'due']),
  ])

  const ended = await pay('--scheme', 'prop', '--fee', '1')
  expect({ code: ended.code, err: ended.err }).toMatchObject({ code: 0 })
  for (const { chain, account, amount } of before.balances) {
    expect([chain, account, await ground.balance(chain, account)]).toEqual([chain, account, unitsOf(amount)])
  }
  const after = await report('--scheme', 'prop', '--fee', '1')
  expect(after.balances).toEqual([])
  expect(after.operator.map(({ unpayable }) => unpayable)).toEqual([
    '0.0',
    before.blocks[2].division?.parts.find(({ payee }) => payee === 'nobody')?.amount,
  ])
  const payments = readPayments(ground.state)
  expect(payments.map(({ chain, account, amount, state }) => [chain, account, amount, state])).toEqual(
    before.balances.map(({ chain, account, amount }) => [chain, account, amount, 'paid']),
  )
  expect(new Set(payments.map(({ requestKey }) => requestKey)).size).toBe(2)

  // Again: there is nothing to pay.
  expect((await pay('--scheme', 'prop', '--fee', '1')).code).toBe(0)
  expect(readPayments(ground.state)).toEqual(payments)
})
