/** Lines of the console about income and cost. */
import { describe, expect, it } from 'vitest'
import { answerOf } from '../../src/faces/cli/answers.ts'
import { logLevelOf } from '../../src/faces/cli/levels.ts'
import { linesOf } from '../../src/faces/cli/lines.ts'
import { statusText } from '../../src/faces/cli/status.ts'
import { type EarningsSnapshot, type Prices, type ProfitBasis, profitOf } from '../../src/mining/mine/profit.ts'
import { snapshotWith } from '../mine/snapshot.ts'

const usd = (amount: number) => ({ amount, currency: 'USD' })
const basis: ProfitBasis = {
  ...{ hashrate: 1e7, difficulty: 8.64e13, reward: 1.2, payer: 'chain' },
  lossAndFees: { lostShare: null, feeShare: null },
  power: { watts: 150, unread: 0, problem: null },
  prices: { coin: usd(0.02), power: usd(0.3) },
}
const profitWith = (parts: Partial<ProfitBasis> = {}) => profitOf({ ...basis, ...parts })
const eventWith = (parts?: Partial<ProfitBasis>) => ({ type: 'profit', profit: profitWith(parts) }) as const
const linesWith = (parts?: Partial<ProfitBasis>) => linesOf(eventWith(parts)).map(({ label, text }) => [label, text])
const withPrices = (prices: Prices) => linesWith({ prices })

describe('the sentence at the start', () => {
  it('the sentence at the start says coins, income, power, loss, and both prices at which it breaks even', () => {
    expect(linesWith()).toEqual([
      ['loss', '0.012 coins/day, 0.00024 USD, power 1.08 USD, loss 1.08 USD/day'],
      ['', 'breaks even at 90 USD a coin or 0.000067 USD/kWh'],
    ])
    expect(logLevelOf(eventWith(), 'text')).toBe('warn')
  })

  it('the sentence at the start says the gain of a miner that earns more than it costs', () => {
    const prices = { coin: usd(200), power: usd(0.3) }
    expect(withPrices(prices)).toEqual([
      ['profit', '0.012 coins/day, 2.40 USD, power 1.08 USD, gain 1.32 USD/day'],
      ['', 'breaks even at 90 USD a coin or 0.67 USD/kWh'],
    ])
    expect(logLevelOf(eventWith({ prices }), 'text')).toBe('info')
  })

  it('the sentence at the start says as much as a single price allows', () => {
    expect(withPrices({ coin: usd(0.02) })).toEqual([
      ['profit', '0.012 coins/day, 0.00024 USD'],
      ['', 'breaks even at 0.000067 USD/kWh'],
    ])
    expect(withPrices({ power: usd(0.3) })).toEqual([
      ['profit', '0.012 coins/day, power 1.08 USD'],
      ['', 'breaks even at 90 USD a coin'],
    ])
  })

  it('the sentence at the start says that the cost is unknown, and why', () => {
    const power = { watts: null, unread: 1, problem: 'the counter may not be read' }
    const first = ['profit', '0.012 coins/day, 0.00024 USD']
    expect(linesWith({ power })).toEqual([first, ['', 'the cost of power is unknown: the counter may not be read']])
    expect(linesWith({ power: { ...power, problem: null } })[1]).toEqual([
      '',
      'the cost of power is unknown: no sensor reports the watts; --watts N states them',
    ])
    expect(linesWith({ power, prices: { coin: usd(0.02) } })).toEqual([first])
  })

  it('the sentence at the start says that cost and loss are lower bounds, and a gain an upper one, if a device is not measured', () => {
    const power = { watts: 150, unread: 2, problem: null }
    expect(linesWith({ power })).toEqual([
      ['loss', '0.012 coins/day, 0.00024 USD, power at least 1.08 USD, loss at least 1.08 USD/day'],
      ['', 'breaks even at 90 USD a coin or 0.000067 USD/kWh'],
      ['', 'the power of 2 devices is unknown'],
    ])
    const [[, gain]] = linesWith({ power, prices: { coin: usd(200), power: usd(0.3) } })
    expect(gain).toMatch(/power at least 1\.08 USD, gain at most 1\.32 USD\/day$/)
  })

  it('the sentence at the start says of a pool that its fee is not known, and of a rig that the leader is paid', () => {
    const ofPool = linesWith({ payer: 'pool' })
    expect(ofPool[0][1]).toMatch(/^0\.012 coins\/day before the pool's fee, /)
    expect(ofPool.at(-1)?.[1]).toBe('the pool decides what it pays; the figures are the mean of mining alone')
    expect(linesWith({ payer: 'leader' })[0][1]).toMatch(/^0\.012 coins\/day for the leader, /)
  })
})

const earnings: EarningsSnapshot = {
  run: { blocks: 1, coins: '1.5', fees: '0' },
  total: { blocks: 3, coins: '4.5', fees: '0.5' },
  ...{ unknownBlocks: 1, lostBlocks: 0, value: 0.09, currency: 'USD' },
}

describe('the status line', () => {
  const plain = (_style: unknown, text: string) => text
  const part = (parts: Partial<ProfitBasis>) =>
    /(?:loss|gain|income|power) .*?\/day/.exec(statusText(snapshotWith({ profit: profitWith(parts) }), 200, plain))?.[0]

  it('the status line has the result of a day, or what the prices allow', () => {
    expect(part({})).toBe('loss 1.08 USD/day')
    expect(part({ prices: { coin: usd(200), power: usd(0.3) } })).toBe('gain 1.32 USD/day')
    expect(part({ prices: { coin: usd(0.02) } })).toBe('income 0.00024 USD/day')
    expect(part({ prices: { power: usd(0.3) } })).toBe('power 1.08 USD/day')
  })

  it('the status line has nothing without prices, and while paused', () => {
    expect(part({ prices: {} })).toBeUndefined()
    const paused = snapshotWith({ profit: profitWith(), pauses: [{ by: 'user', text: '' }], paused: true })
    expect(statusText(paused, 200, plain)).not.toContain('USD')
  })
})

describe('the key m', () => {
  const answer = (parts: Parameters<typeof snapshotWith>[0]) =>
    answerOf('m', snapshotWith(parts)).map(({ text }) => text)

  it('the key m shows the expectation, and what was paid in this run and in all', () => {
    expect(answer({ profit: profitWith(), earnings })).toEqual([
      '0.012 coins/day, 0.00024 USD, power 1.08 USD, loss 1.08 USD/day',
      'breaks even at 90 USD a coin or 0.000067 USD/kWh',
      'paid: 1.5 coins for 1 block in this run, 4.5 coins for 3 blocks, 0.09 USD in all',
      'the reward of 1 block is not known yet',
    ])
  })

  it('the key m shows coins without prices, and names the options', () => {
    const { value, currency, ...rest } = { ...earnings, run: earnings.total, unknownBlocks: 0 }
    expect(answer({ profit: profitWith({ prices: {} }), earnings: { ...rest, value: null, currency: null } })).toEqual([
      '0.012 coins/day',
      'paid: 4.5 coins for 3 blocks',
      '--coin-price and --power-price add income and cost',
    ])
  })

  it('the key m says that nothing is known before the first work', () => {
    expect(answer({})).toEqual(['the expected coins are unknown: there was no work yet'])
  })
})

it('the summary has income and paid coins if prices are stated', () => {
  const texts = (prices: Prices) =>
    linesOf({ type: 'summary', snapshot: snapshotWith({ profit: profitWith({ prices }), earnings }) }).map(
      ({ text }) => text,
    )
  expect(texts(basis.prices)).toEqual(expect.arrayContaining([expect.stringMatching(/^paid: 1\.5 coins for 1 block/)]))
  expect(texts({}).join()).not.toMatch(/paid|coins/)
})

it('the line of a reward shows its fees', () => {
  const reward = { type: 'reward', hash: 'h', chain: 3, height: 7, amount: '1.5' } as const
  const [text, withFees, none] = [reward, { ...reward, fees: '0.25' }, { ...reward, fees: '0' }].map(
    (event) => linesOf(event)[0].text,
  )
  expect(none, text).toEqual(text)
  expect(text).toMatch(/1\.5 coins$/)
  expect(withFees).toBe(`${text} and 0.25 coins in fees`)
})
