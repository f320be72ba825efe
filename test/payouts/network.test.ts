/** A pool on the embedded network: three rigs and an orphan; every user is paid to the last unit. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommandSender } from '../../src/client/wallet/command-sender.ts'
import { planTransfer } from '../../src/client/wallet/plan.ts'
import { readAmount } from '../../src/client/wallet/transfer.ts'
import { unitsOf } from '../../src/ground/base/coins.ts'
import { lockPayouts } from '../../src/pool/payouts/lock.ts'
import { readPayments } from '../../src/pool/payouts/payments.ts'
import { PayoutJournal } from '../../src/pool/payouts/payout-journal.ts'
import type { PayoutReport } from '../../src/pool/payouts/report.ts'
import { type Ended, run } from '../cli/run.ts'
import { until } from '../wait.ts'
import { Gate } from './gate.ts'
import { blockOf } from './memory-shares.ts'
import { keyPair, PoolGround } from './pool-ground.ts'

let ground: PoolGround
beforeEach(async () => {
  ground = await PoolGround.start()
  // Commands carry a creation time a few seconds in the past, which the first blocks would refuse.
  await ground.bury(2)
})
afterEach(() => ground.close())

const [ann, ben, cleo] = [1, 2, 3].map(keyPair)

const CONFIRMATIONS = 3
const payouts = (...args: string[]): Promise<Ended> =>
  run([
    'payouts',
    ...(args.includes('--node') ? [] : ['--node', ground.devnet.url]),
    '--state',
    ground.state,
    '--confirmations',
    String(CONFIRMATIONS),
    ...args,
  ])

async function report(...args: string[]): Promise<PayoutReport> {
  const { code, out, err } = await payouts('--json', '--account', ground.pool.account, ...args)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

/** Runs `payouts --pay`, and makes the blocks for its commands. */
const pay = (...args: string[]): Promise<Ended> =>
  ground.buryPending(CONFIRMATIONS, payouts('--pay', '--key', ground.keyFile, ...args))

const sum = (amounts: readonly string[]) => amounts.reduce((total, amount) => total + (unitsOf(amount) ?? 0n), 0n)

it('three rigs mine, a block is orphaned, and every user is paid to the last unit', async () => {
  // Round one ends with a block on chain 0, round two with one that is orphaned, round three with one on chain 1.
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
  const reason = 'its name is not a k: account, which is k: and 64 hex digits'
  expect(after.unpaid).toEqual([{ user: 'nobody', reason }])
  const { out } = await payouts('--account', ground.pool.account, '--scheme', 'prop', '--fee', '1')
  expect(out).toContain(`\nusers who cannot be paid:\n  nobody: ${reason}\n`)
  const payments = readPayments(ground.state)
  expect(payments.map(({ chain, account, amount, state }) => [chain, account, amount, state])).toEqual(
    before.balances.map(({ chain, account, amount }) => [chain, account, amount, 'paid']),
  )
  expect(new Set(payments.map(({ requestKey }) => requestKey)).size).toBe(2)

  // A second run has nothing to pay.
  expect((await pay('--scheme', 'prop', '--fee', '1')).code).toBe(0)
  expect(readPayments(ground.state)).toEqual(payments)
})

/** A block of the pool on a chain, deep enough to count, with shares of Ann and Ben. */
async function earn(chain: number): Promise<void> {
  const found = await ground.mine(chain)
  await ground.keep(ground.share(ben.account, 25), ground.share(ann.account, 75, found))
  await ground.bury(3)
}

it('a pool without coins for gas pays nothing, reports the missing amount, and pays later', async () => {
  await earn(0)
  const { code, err } = await pay('--scheme', 'prop')
  expect(code).toBe(1)
  expect(err).toMatch(/chain 0: k:\w+ has 11\.5\d* coins on chain 0, but needs \d+\.\d+ and up to 0\.0\d+ for gas/)
  expect(readPayments(ground.state)).toEqual([])
  await ground.fund(0)
  expect((await pay('--scheme', 'solo')).code).toBe(0)
  // The first run credited the block, by its own rules.
  expect(
    readPayments(ground.state)
      .map(({ account }) => account)
      .sort(),
  ).toEqual([ann.account, ben.account].sort())
})

it('a balance below the minimum is carried over, and paid with the next block', async () => {
  await earn(0)
  await ground.fund(0)
  const rules = ['--scheme', 'prop', '--minimum', '5']
  expect((await report(...rules)).balances.map(({ account, state }) => [account, state]).sort()).toEqual(
    [
      [ann.account, 'due'],
      [ben.account, 'carried'],
    ].sort(),
  )
  expect((await pay(...rules)).code).toBe(0)
  expect(await ground.balance(0, ben.account)).toBeNull()
  await earn(0)
  expect((await pay(...rules)).code).toBe(0)
  const toBen = readPayments(ground.state).filter(({ account }) => account === ben.account)
  expect(toBen.map(({ blocks }) => blocks.length)).toEqual([2])
  expect(await ground.balance(0, ben.account)).toBe(unitsOf(toBen[0].amount))
})

it('a payment that fails in its block frees its amounts, which are paid again', async () => {
  await earn(0)
  await ground.fund(0)
  // The coins are there at the preflight of the command, and gone when the command arrives at the node.
  const takeAway = async () => {
    const { key, account: from } = ground.pool
    const transfer = { from, to: cleo.account, amount: readAmount('5.0') }
    const commandSender = new CommandSender(ground.client)
    const command = commandSender.sign(await planTransfer(ground.client, { transfer, chain: 0, keys: [key] }))
    await commandSender.send(0, command)
    await until(async () => {
      await ground.bury(1)
      return (await ground.balance(0, cleo.account)) !== null
    })
    return false
  }
  let taken: Promise<boolean> | null = null
  const gate = new Gate(ground.devnet.url, (kind, when) => {
    if (kind !== 'send' || when !== 'before') return false
    taken ??= takeAway()
    return taken
  })
  const { code, err } = await pay('--scheme', 'prop', '--node', await gate.open())
  gate.close()
  expect(code).toBe(1)
  expect(err).toMatch(/ failed \(\S{43}\); it is due again/)
  await ground.fund(0, '6.0')
  expect((await pay()).code).toBe(0)
  const payments = readPayments(ground.state)
  expect(payments.map(({ state }) => state)).toEqual(['failed', 'failed', 'paid', 'paid'])
  for (const { account, amount } of payments.slice(2)) {
    expect(await ground.balance(0, account)).toBe(unitsOf(amount))
  }
})

it('many accounts are paid in several commands, and accounts that exist are paid too', async () => {
  const users = Array.from({ length: 12 }, (_, n) => keyPair(100 + n))
  const found = await ground.mine(0)
  await ground.keep(...users.map(({ account }, n) => ground.share(account, n + 1, n === 11 ? found : null)))
  await ground.bury(3)
  await ground.fund(0)
  // Gas is 500, and 400 for each transfer: five fit into a command.
  const rules = ['--scheme', 'prop', '--gas-limit', '2500']
  expect((await pay(...rules)).code).toBe(0)
  const first = readPayments(ground.state)
  expect(first).toHaveLength(12)
  expect(new Set(first.map(({ requestKey }) => requestKey)).size).toBe(3)
  const again = await ground.mine(0)
  await ground.keep(...users.map(({ account }, n) => ground.share(account, 1, n === 0 ? again : null)))
  await ground.bury(3)
  expect((await pay(...rules)).code).toBe(0)
  for (const { account } of users) {
    const amounts = readPayments(ground.state).filter((each) => each.account === account)
    expect(await ground.balance(0, account)).toBe(sum(amounts.map(({ amount }) => amount)))
  }
})

it('debts on another network are not paid on this one', async () => {
  await earn(0)
  await ground.fund(0)
  const journal = PayoutJournal.open(ground.state, () => 0)
  const parts = [{ payee: cleo.account, amount: '0.5', shares: 1, worth: '1' }]
  journal.append({
    at: journal.now(),
    type: 'credit',
    network: 'elsewhere',
    account: ground.pool.account,
    block: blockOf('E'),
    chain: 0,
    height: 1,
    foundMs: 1,
    finder: cleo.account,
    scheme: 'solo',
    window: '2.0',
    feePercent: '0',
    reward: '0.5',
    fee: '0.0',
    rest: '0.0',
    parts,
    round: [],
  })
  journal.close()
  expect((await report()).balances.map(({ account }) => account)).not.toContain(cleo.account)
  expect((await pay()).code).toBe(0)
  expect(readPayments(ground.state).map(({ account }) => account)).not.toContain(cleo.account)
  expect(await ground.balance(0, cleo.account)).toBeNull()
})

it('a second payer is refused while one is running', async () => {
  const { code, err } = await payouts('--pay', '--key', ground.keyFile)
  expect(err).toContain('no share log in this folder')
  expect(code).toBe(1)
  const again = await lockPayouts(ground.state)
  const refused = await payouts('--pay', '--key', ground.keyFile)
  await again.release()
  expect(refused.err).toContain('another newcut payouts --pay is running there')
  expect(refused.code).toBe(25)
})

it.each([
  [['--pay'], '--key is missing: a transaction needs a signature'],
  [['--key', 'sender00'], '--key has no effect: without --pay nothing is paid (add --pay)'],
  [['--scheme', 'pps'], 'one of pplns, prop, solo'],
  [['--fee', '101'], 'a number from 0 to 100'],
  [['--fee', '-1'], 'a number from 0 to 100'],
  [['--window', '0'], 'a number of blocks from 0.01 to 1000'],
  [['--scheme', 'solo', '--window', '3'], '--window has no effect: it is for --scheme pplns'],
  [['--minimum', '1e3'], 'a number of coins'],
  [['--from', 'nowhere'], 'HOST:PORT'],
  [['--http-token', '12345678'], '--http-token has no effect: it is for --from'],
])('the arguments %s are refused: %s', async (args, text) => {
  const { code, err } = await payouts(...args)
  expect(err).toContain(text)
  expect(code).toBe(2)
})
