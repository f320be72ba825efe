/** Sums of paid blocks from events and journal records. */
import { expect, it } from 'vitest'
import type { LifeStep, StepName } from '../../src/ground/chain/solution.ts'
import { Earnings, type OwnBlock } from '../../src/mining/mine/earnings.ts'
import { step } from '../web/dashboard/common.ts'

const record = (hash: string, state: StepName, reward: string | null = null, fees: string | null = null): OwnBlock => {
  return { hash, state, reward, fees }
}
const confirmed = { step: 'confirmed', depth: 1 } as const

function earningsWith(...records: readonly OwnBlock[]) {
  const earnings = new Earnings()
  for (const each of records) earnings.seed(each)
  const take = (hash: string, life: LifeStep) => earnings.onEvent(step(hash, life))
  const pay = (hash: string, amount: string, fees?: string) =>
    earnings.onEvent({ type: 'reward', hash, chain: 0, height: 1, amount, ...(fees !== undefined && { fees }) })
  return { earnings, take, pay }
}

it('a block counts once it is confirmed and its reward is known', () => {
  const { earnings, take, pay } = earningsWith()
  take('a', { step: 'acknowledged' })
  expect(earnings.snapshot()).toMatchObject({ total: { blocks: 0, coins: '0' }, unknownBlocks: 0 })
  take('a', confirmed)
  expect(earnings.snapshot()).toMatchObject({ total: { blocks: 0, coins: '0' }, unknownBlocks: 1 })
  pay('a', '1.1522615', '0.000254')
  const paid = { blocks: 1, coins: '1.1525155', fees: '0.000254' }
  expect(earnings.snapshot()).toMatchObject({ run: paid, total: paid, unknownBlocks: 0, lostBlocks: 0 })
  take('a', { step: 'confirmed', depth: 2 })
  expect(earnings.snapshot().total).toEqual(paid)
})

it('an orphaned block is not paid, and counts again if its chain returns', () => {
  const { earnings, take, pay } = earningsWith()
  take('a', confirmed)
  pay('a', '2')
  take('a', { step: 'orphaned', mayReturn: true })
  expect(earnings.snapshot()).toMatchObject({ total: { blocks: 0, coins: '0' }, lostBlocks: 1 })
  take('a', { step: 'confirmed', depth: 3 })
  expect(earnings.snapshot()).toMatchObject({ total: { blocks: 1, coins: '2' }, lostBlocks: 0 })
})

it('blocks of earlier runs count in the total only, even if their reward becomes known now', () => {
  const { earnings, take, pay } = earningsWith(record('a', 'confirmed', '1', '0.5'), record('b', 'confirmed'))
  expect(earnings.snapshot()).toMatchObject({ total: { blocks: 1, coins: '1.5', fees: '0.5' }, unknownBlocks: 1 })
  pay('b', '2')
  take('c', confirmed)
  pay('c', '4')
  expect(earnings.snapshot()).toMatchObject({
    run: { blocks: 1, coins: '4' },
    total: { blocks: 3, coins: '7.5', fees: '0.5' },
    unknownBlocks: 0,
  })
})

it('a record that comes after its events changes nothing', () => {
  const { earnings, take, pay } = earningsWith()
  take('a', confirmed)
  pay('a', '3')
  earnings.seed(record('a', 'confirmed', '3'))
  expect(earnings.snapshot()).toMatchObject({ run: { blocks: 1 }, total: { blocks: 1, coins: '3' } })
})

it('stale, orphaned, rejected and lost solutions are lost; pending ones are not', () => {
  const states: readonly StepName[] = ['stale', 'orphaned', 'rejected', 'lost', 'found', 'handed-in', 'unconfirmed']
  const { earnings } = earningsWith(...states.map((state) => record(state, state)))
  expect(earnings.snapshot()).toMatchObject({ lostBlocks: 4, total: { blocks: 0 } })
})

it('the value is the price of all coins', () => {
  const { earnings } = earningsWith(record('a', 'confirmed', '1.5', '0.5'))
  expect(earnings.snapshot({ amount: 3, currency: 'EUR' })).toMatchObject({ value: 6, currency: 'EUR' })
  expect(earnings.snapshot()).toMatchObject({ value: null, currency: null })
})

const many = (count: number, state: StepName, reward: string | null = '2', fees: string | null = '1') =>
  Array.from({ length: count }, (_, i) => record(`${state}${reward}${fees}${i}`, state, reward, fees))

it('the fractions of loss and fees cover the last 100 settled blocks, and are unknown with fewer than 20', () => {
  expect(earningsWith(...many(18, 'confirmed'), record('z', 'stale')).earnings.lossAndFees()).toEqual({
    ...{ lostShare: null, feeShare: null },
  })
  const old = many(300, 'orphaned')
  const { earnings } = earningsWith(...old, ...many(75, 'confirmed'), ...many(25, 'stale'), ...many(40, 'found'))
  expect(earnings.lossAndFees()).toEqual({ lostShare: 0.25, feeShare: 0.5 })
  earnings.onEvent(step('new', { step: 'stale' }))
  expect(earnings.lossAndFees().lostShare).toBe(0.26)
})

it('the fraction of fees covers only blocks whose fees are known', () => {
  const { earnings } = earningsWith(...many(20, 'confirmed', '2', '1'), ...many(50, 'confirmed', '2', null))
  expect(earnings.lossAndFees()).toEqual({ lostShare: 0, feeShare: 0.5 })
  const none = earningsWith(...many(19, 'confirmed', '2', '1'), ...many(50, 'confirmed', '2', null))
  expect(none.earnings.lossAndFees().feeShare).toBeNull()
})

it('the sums include blocks older than the 10,000 that are kept', () => {
  const { earnings } = earningsWith(...many(10_050, 'confirmed', '1', '0'))
  expect(earnings.snapshot().total).toEqual({ blocks: 10_050, coins: '10050', fees: '0' })
})
