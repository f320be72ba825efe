import { expect, it } from 'vitest'
import { exactSum, exactText, exactUnits } from '../../src/base/coin-sums.ts'
import { amountText, moneyText } from '../../src/base/money-text.ts'

it.each([
  [0, '0'],
  [0.012, '0.012'],
  [0.00024, '0.00024'],
  [0.0000666667, '0.000067'],
  [0.996, '1'],
  [0.5, '0.5'],
  [1.08, '1.08'],
  [1.005001, '1.01'],
  [90, '90'],
  [100, '100'],
  [1589.841, '1589.84'],
  [1_349_999, '1,350,000'],
  [12_340_000, '12,340,000'],
  [3.21e-15, '3.2e-15'],
  [-1.08, '-1.08'],
])('%d is written %s', (amount, text) => {
  expect(amountText(amount)).toBe(text)
})

it.each([
  [0.7, '0.70 USD'],
  [0.0961, '0.096 USD'],
  [0.1961, '0.20 USD'],
  [1.08, '1.08 USD'],
  [90, '90 USD'],
  [90.001, '90 USD'],
  [2.4, '2.40 USD'],
  [-0.5, '-0.50 USD'],
  [1_349_999, '1,350,000 USD'],
])('as money, %d is written %s', (amount, text) => {
  expect(moneyText(amount, 'USD')).toBe(text)
})

it('sums of coins are exact to 20 places', () => {
  expect(exactSum(['1.1522615', '0.00000000000000000001', '2'])).toBe('3.15226150000000000001')
  expect([exactSum([]), exactSum(['0.5', '0.5'])]).toEqual(['0', '1'])
  expect(exactText(exactUnits('99999999999999999999.5'))).toBe('99999999999999999999.5')
})

it.each(['', 'many', '-1', '1.', '1e5', '0.000000000000000000001'])('%j is no amount of coins', (text) => {
  expect(() => exactUnits(text)).toThrow(RangeError)
})
