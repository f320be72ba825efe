/** Nothing is paid twice, whatever a node forgets, and a run says what became of payments of an earlier one. */
import { readFileSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommandSender } from '../../src/client/wallet/command-sender.ts'
import { planTransfer } from '../../src/client/wallet/plan.ts'
import { readAmount } from '../../src/client/wallet/transfer.ts'
import { unitsOf } from '../../src/ground/base/coins.ts'
import { readPayments } from '../../src/pool/payouts/payments.ts'
import { payoutFile, readPayouts } from '../../src/pool/payouts/payout-journal.ts'
import { type RunningHere, startHere } from '../cli/run.ts'
import { until } from '../wait.ts'
import { Gate, type Replaces } from './gate.ts'
import { keyPair, PoolGround } from './pool-ground.ts'

const HOUR_MS = 3_600_000
const CONFIRMATIONS = 3
const [ann, cleo] = [1, 3].map(keyPair)

let ground: PoolGround
beforeEach(async () => {
  ground = await PoolGround.start()
  await ground.bury(2)
  await ground.keep(ground.share(ann.account, 75, await ground.mine(0)))
  await ground.bury(CONFIRMATIONS)
  await ground.fund(0)
})
afterEach(() => ground.close())

/** Starts `payouts --pay`. */
function pay(node = ground.devnet.url): RunningHere {
  const place = ['--node', node, '--state', ground.state, '--confirmations', String(CONFIRMATIONS)]
  return startHere(['payouts', ...place, '--scheme', 'prop', '--pay', '--key', ground.keyFile])
}

/** Pays, and makes the blocks for that. */
const payUndisturbed = () => ground.buryPending(CONFIRMATIONS, pay().ended)

/** Makes blocks of an hour later, which no transaction of now can enter. */
async function letExpire(): Promise<void> {
  await ground.order('clock', { advanceMs: HOUR_MS })
  await ground.bury(CONFIRMATIONS)
}

const states = () => readPayments(ground.state).map(({ state }) => state)
const owed = () => unitsOf(readPayments(ground.state)[0].amount)

/** Pays through a proxy until a block has the payment. */
async function payThrough(replaces: Replaces): Promise<{ readonly run: RunningHere; readonly gate: Gate }> {
  const gate = new Gate(ground.devnet.url, () => false, replaces)
  const run = pay(await gate.open())
  await until(() => ground.devnet.pending > 0)
  await ground.bury(CONFIRMATIONS)
  return { run, gate }
}

const FORGETS: Replaces = (kind) => (kind === 'poll' ? { status: 200, body: '{}' } : null)

it('a payment is found in its block if the node has forgotten its result', async () => {
  const { run, gate } = await payThrough(FORGETS)
  await letExpire()
  const { code, out, err } = await run.ended
  gate.close()
  expect(code).toBe(0)
  // Without a terminal, the run says once for how long it waits, and draws no progress.
  expect(err).toMatch(/waiting {3}1 payout, each until its block is 3 deep: about 1 m 30 s, at 30 s a block\n/)
  expect(err).not.toContain('confirming payouts')
  expect(states()).toEqual(['paid'])
  expect(out).toMatch(/k:\w+ +11\.5\d* +paid/)
  const height = readPayouts(ground.state).findLast((line) => line.type === 'result')?.height ?? 0
  const { payloadHash } = await ground.client.header(0, (await blockAt(height)) as string)
  expect((await ground.client.payload(0, payloadHash)).transactions).toHaveLength(1)
  // Another run has nothing to pay.
  expect((await payUndisturbed()).code).toBe(0)
  expect(states()).toEqual(['paid'])
  expect(await ground.balance(0, ann.account)).toEqual(owed())
})

async function blockAt(height: number): Promise<string | undefined> {
  const { hash } = (await ground.client.cut()).hashes[0]
  return (await ground.client.hashBranch(0, { upper: [hash] }, { minheight: height, maxheight: height }).page())
    .items[0]
}

const withoutTransactions = (body: string) =>
  JSON.stringify((JSON.parse(body) as object[]).map((payload) => ({ ...payload, transactions: [] })))

it.each([
  ['are not given', () => ({ status: 404, body: '' }), 'answered 404'],
  ['lack their transactions', withoutTransactions, 'does not have the transactionsHash'],
] as const)('a payment stays open while payloads %s, and the run says so', async (_, lie, reason) => {
  const { run, gate } = await payThrough((kind, path, body) => {
    if (!path.includes('/payload/batch')) return FORGETS(kind, path, body)
    const told = lie(body)
    return typeof told === 'string' ? { status: 200, body: told } : told
  })
  await letExpire()
  await until(() => run.err().includes('cannot be read'))
  expect(run.err()).toMatch(new RegExp(`trouble +whether a block of chain 0 has \\S{43} cannot be read: .* ${reason}`))
  await run.stop()
  gate.close()
  expect(states()).toEqual(['pending'])
  // The node itself knows.
  expect((await payUndisturbed()).code).toBe(0)
  expect(states()).toEqual(['paid'])
  expect(await ground.balance(0, ann.account)).toEqual(owed())
})

it('a payment that no block has expires, and is due again', async () => {
  const gate = new Gate(ground.devnet.url, (kind, when) => kind === 'send' && when === 'before')
  const run = pay(await gate.open())
  await until(() => states().length > 0)
  await run.stop()
  gate.close()
  await letExpire()
  // The clocks of the node and of this machine differ now, so nothing new is signed.
  const { code, err } = await payUndisturbed()
  expect(code).toBe(1)
  expect(states()).toEqual(['expired'])
  expect(err).toMatch(
    /chain 0: the clock here says \d{4}-\S+Z, and that of the node \d{4}-\S+Z: they differ by 3\d{3} s, and the maximum is 30 s; set the clock/,
  )
  expect(err).toMatch(/chain 0: 11\.5\d* for k:\w+ expired \(\S{43}\); it is due again/)
  expect(await ground.balance(0, ann.account)).toBeNull()
})

it('a run reports the results of payments that an earlier run had signed', async () => {
  const gate = new Gate(ground.devnet.url, (kind, when) => kind === 'send' && when === 'after')
  const first = pay(await gate.open())
  await until(() => ground.devnet.pending > 0)
  await first.stop()
  gate.close()
  const [{ requestKey, amount }] = readPayments(ground.state)
  await ground.bury(CONFIRMATIONS)
  const { code, out } = await pay().ended
  expect(code).toBe(0)
  expect(states()).toEqual(['paid'])
  expect(out).toMatch(new RegExp(`${amount} +paid +${requestKey}$`, 'm'))
})

it('a payment that an earlier run had signed counts for the exit code', async () => {
  const gate = new Gate(ground.devnet.url, (kind, when) => kind === 'send' && when === 'before')
  const first = pay(await gate.open())
  await until(() => states().length > 0)
  await first.stop()
  gate.close()
  await takeCoins()
  const { code, out, err } = await payUndisturbed()
  expect(code).toBe(1)
  expect(states()).toEqual(['failed'])
  expect(err).toMatch(/chain 0: 11\.5\d* for k:\w+ failed \(\S{43}\); it is due again/)
  expect(out).toMatch(/11\.5\d* +failed +\S{43}$/m)
})

/** The pool spends coins that it owes. */
async function takeCoins(): Promise<void> {
  const { key, account: from } = ground.pool
  const transfer = { from, to: cleo.account, amount: readAmount('5.0') }
  const commandSender = new CommandSender(ground.client)
  await commandSender.submit(await planTransfer(ground.client, { transfer, chain: 0, keys: [key] }))
  await ground.bury(2)
  expect(await ground.balance(0, cleo.account)).toBe(unitsOf('5.0'))
}

it('a flipped bit in the journal stops all payments', async () => {
  expect((await payUndisturbed()).code).toBe(0)
  const path = payoutFile(ground.state)
  const right = readFileSync(path, 'latin1')
  // The order paid another block then, and this one would be due.
  const at = right.lastIndexOf('"block":"') + 9
  const flipped = String.fromCharCode(right.charCodeAt(at) ^ 1)
  writeFileSync(path, right.slice(0, at) + flipped + right.slice(at + 1), 'latin1')
  const { code, err } = await payUndisturbed()
  expect(err).toContain('payouts.jsonl: line 2 is damaged, and it may be a payment')
  expect(code).toBe(25)
})

it('a journal without seals is read, and the report says so', async () => {
  expect((await payUndisturbed()).code).toBe(0)
  const path = payoutFile(ground.state)
  writeFileSync(path, readFileSync(path, 'utf8').replace(/,"seal":"[^"]*"\}$/gm, '}'))
  writeFileSync(path.replace('.jsonl', '.end'), '')
  const { code, err } = await payUndisturbed()
  expect(err).toContain('payouts.jsonl: none of its 3 lines has a seal')
  expect(code).toBe(0)
  expect(states()).toEqual(['paid'])
})
