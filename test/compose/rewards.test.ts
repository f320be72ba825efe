import { expect, it } from 'vitest'
import { rewardsOf } from '../../src/compose/rewards.ts'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { NewcutError } from '../../src/ground/base/errors.ts'
import { paymentIn } from '../../src/ground/chain/coinbase.ts'
import type { PayloadWithOutputs } from '../../src/ground/schema/bodies.ts'
import type { MinerEvent, SolutionEvent } from '../../src/mining/mine/events.ts'
import { settle } from '../mine/virtual-clock.ts'

const transfer = (amount: string, from = '""') =>
  `{"gas":0,"events":[{"name":"OTHER","params":["","k:me",9]},{"name":"TRANSFER","params":[${from},"k:me",${amount}]}]}`

it.each([
  ['a number', transfer('2.304523'), '2.304523'],
  ['more digits than a double holds', transfer('1.15226150000000000001'), '1.15226150000000000001'],
  ['an integer', transfer('2'), '2'],
  ['a decimal in an object', transfer('{"decimal":"0.5"}'), '0.5'],
  ['an integer in an object', transfer('{"int":3}'), '3'],
  ['a transfer from somebody', transfer('1.5', '"k:you"'), null],
  ['an invalid amount', transfer('"much"'), null],
  ['no events, as in old blocks', '{"gas":0,"result":{"status":"success","data":"Write succeeded"}}', null],
  ['not JSON', 'NO_COINBASE', null],
])('the reward of a coinbase output is the transfer from nobody: %s', (_what, output, expected) => {
  expect(paymentIn(output)?.amount ?? null).toBe(expected)
})

const STOA = { model: 'result', pattern: 'Miner {account} succesfully mined {amount} STOA' } as const
const mined = (text: unknown, status = 'success') => JSON.stringify({ events: [], result: { status, data: text } })
const MINED = 'Miner k:ab succesfully mined 0.478482038798 STOA'

it.each([
  ['on another chain', mined(`${MINED} on Chain 1`), '0.478482038798'],
  [
    'on chain 0',
    mined(`${MINED}, and injected an additional 0.53164670978 STOA to the UrStoa Vault`),
    '0.478482038798',
  ],
  ['that failed', mined(MINED, 'failure'), null],
  ['that does not begin so', mined(`He said: ${MINED}`), null],
  ['with another coin', mined('Miner k:ab succesfully mined 0.5 COIN'), null],
  ['that is not a text', mined({ amount: 1 }), null],
  ['with another event', transfer('1.5', '"k:you"'), null],
  ['not JSON', 'NO_COINBASE', null],
])('the payment is read from the text of a coinbase: %s', (_what, output, amount) => {
  expect(paymentIn(output, STOA)).toEqual(amount === null ? null : { account: 'k:ab', amount })
})

it('a coinbase event counts where the text has no payment, because contracts may change', () => {
  expect(paymentIn(transfer('2.5'), STOA)).toEqual({ account: 'k:me', amount: '2.5' })
})

it('an account that looks like a payment is not one', () => {
  const account = 'x succesfully mined 999.0 STOA Miner y'
  const text = `Miner ${account} succesfully mined 0.5 STOA on Chain 1`
  expect(paymentIn(mined(text), STOA)).toEqual({ account, amount: '0.5' })
})

it('a payment pattern is literal except for its placeholders', () => {
  const payment = { model: 'result', pattern: 'paid (+) {amount} [x]' } as const
  expect(paymentIn(mined('paid (+) 1.5 [x]'), payment)).toEqual({ account: null, amount: '1.5' })
  expect(paymentIn(mined('paid +++ 1.5 x'), payment)).toBeNull()
})

const solution = (changes: object) =>
  ({
    ...{ type: 'solution', step: 'confirmed', depth: 1, verdict: 'accepted', chain: 3, height: 7 },
    ...{ hash: 'h', payload: 'p', ...changes },
  }) as SolutionEvent

/** The requests, rewards and faults that these events cause. */
async function rewarded(
  events: readonly MinerEvent[],
  answer: () => Promise<PayloadWithOutputs>,
  unpaid: readonly string[] = [],
) {
  const [asked, told, faults, unrecognised]: unknown[][] = [[], [], [], []]
  const take = rewardsOf({
    client: {
      payloadOutputs: (chain, payload, { height } = {}) => {
        asked.push([chain, payload, height])
        return answer()
      },
    },
    ...{ payment: { model: 'event' }, chainsAt: () => 20, call: async () => null },
    unpaid,
    onUnrecognised: (blocks) => void unrecognised.push(blocks),
    onReward: (reward) => void told.push(reward),
    onFault: (error) => void faults.push(error),
    stopped: new AbortController().signal,
  })
  for (const event of events) {
    take(event)
    await settle()
  }
  return { asked, told, faults, unrecognised }
}

const encoded = (text: string) => encodeBase64Url(Buffer.from(text))
const transaction = (gasPrice: string) => encoded(`{"cmd":"{\\"meta\\":{\\"gasPrice\\":${gasPrice}}}"}`)

/** A block that pays 2.5 coins, with these transactions and outputs. */
const payingWith = (transactions: PayloadWithOutputs['transactions']) => async () =>
  ({ coinbase: encoded(transfer('2.5')), transactions }) as PayloadWithOutputs
const paying = payingWith([])

it("a block's reward is requested once, when the block is accepted", async () => {
  const events = [
    solution({ step: 'acknowledged', verdict: null }),
    solution({}),
    solution({ depth: 2, verdict: null }),
  ]
  const { asked, told } = await rewarded(events, paying)
  expect(asked).toEqual([[3, 'p', 7]])
  expect(told).toEqual([{ type: 'reward', chain: 3, height: 7, hash: 'h', amount: '2.5', fees: '0' }])
})

it('the fees of its transactions come with the reward, if they are readable', async () => {
  const output = encoded('{"gas":254}')
  const two = payingWith([
    [transaction('1e-6'), output],
    [transaction('0.5'), output],
  ])
  expect((await rewarded([solution({})], two)).told).toMatchObject([{ amount: '2.5', fees: '127.000254' }])
  const broken = payingWith([[encoded('{'), output]])
  const [told] = (await rewarded([solution({})], broken)).told
  expect(told).toMatchObject({ amount: '2.5' })
  expect(told).not.toHaveProperty('fees')
})

it('a node that does not answer the request for a reward causes no fault; anything else does', async () => {
  const away = new NewcutError('NODE_UNREACHABLE', 'connection refused')
  expect(await rewarded([solution({})], () => Promise.reject(away))).toMatchObject({ told: [], faults: [] })
  const fault = new TypeError('a fault')
  expect(await rewarded([solution({})], () => Promise.reject(fault))).toMatchObject({ told: [], faults: [fault] })
})

it('the request for a reward is repeated at a greater depth if the node did not answer', async () => {
  let calls = 0
  const answer = () => (++calls === 1 ? Promise.reject(new NewcutError('NODE_UNREACHABLE', 'no answer')) : paying())
  const deeper = (depth: number) => solution({ depth, verdict: null })
  const { asked, told } = await rewarded([solution({}), deeper(2), deeper(3)], answer)
  expect(asked).toHaveLength(2)
  expect(told).toHaveLength(1)
})

it('the reward of a block from an earlier run is requested once, even at a greater depth', async () => {
  const deeper = solution({ depth: 3, verdict: null })
  expect((await rewarded([deeper, deeper], paying, ['h'])).told).toHaveLength(1)
  expect((await rewarded([deeper], paying)).asked).toEqual([])
})

it('three blocks in a row without a recognised payment are reported once; one with a payment ends the row', async () => {
  const silent = { coinbase: encoded(mined(MINED)), transactions: [] } as unknown as PayloadWithOutputs
  const blocks = Array.from({ length: 7 }, (_, i) => solution({ hash: `h${i}` }))
  let paidAt = Number.POSITIVE_INFINITY
  let asked = 0
  const answer = async () => (asked++ === paidAt ? paying() : silent)
  const all = await rewarded(blocks, answer)
  expect(all.told).toEqual([])
  expect(all.unrecognised).toEqual([3])
  asked = 0
  paidAt = 2
  expect((await rewarded(blocks.slice(0, 5), answer)).unrecognised).toEqual([])
})
