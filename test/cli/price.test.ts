import { expect, it } from 'vitest'
import { coinPrice, powerPrice } from '../../src/faces/cli/price.ts'

it.each([
  ['0.02USD', 0.02, 'USD'],
  [' 0.02 usd ', 0.02, 'USD'],
  ['1e-7EUR', 1e-7, 'EUR'],
  ['2EUR', 2, 'EUR'],
  ['0USDT', 0, 'USDT'],
])('the price of a coin may be written as %j', (text, amount, currency) => {
  expect(coinPrice.parse(text)).toEqual({ amount, currency })
  expect(powerPrice.parse(`${text}/kWh`)).toEqual({ amount, currency })
  expect(powerPrice.parse(`${text} / KWH`)).toEqual({ amount, currency })
})

it('newcut writes prices as options have them', () => {
  expect(coinPrice.format({ amount: 0.02, currency: 'USD' })).toBe('0.02USD')
  expect(powerPrice.format({ amount: 0.3, currency: 'USD' })).toBe('0.3USD/kWh')
})

it.each([
  ['-1USD', 'is negative'],
  ['- 1 USD', 'is negative'],
  ['0.02', 'has no currency'],
  [0.02, 'has no currency'],
  ['1,5EUR', 'has a comma: write a point'],
  ['$0.02', 'has a currency sign: write its letters'],
  ['0.02€', 'has a currency sign: write its letters'],
  ['USD0.02', 'begins with the currency: the number comes first'],
  ['much', 'has no number'],
  ['', 'has no number'],
  [true, 'has no number'],
  ['0.02USD/kWh', 'is a price for each kWh, and that of a coin is wanted'],
  ['0.02DOLLARS', undefined],
  ['1.2.3USD', undefined],
])('the price of a coin may not be written as %j: %s', (raw, problem) => {
  expect(coinPrice.parse(raw)).toBeUndefined()
  expect(coinPrice.problem?.(raw)).toBe(problem)
})

it.each([
  ['0.30USD', 'has no unit: add /kWh'],
  ['0.30USD/MWh', 'is a price for each MWh'],
  ['0.30', 'has no currency'],
  ['0.30/kWh', 'has no currency'],
  ['-0.30USD/kWh', 'is negative'],
])('the price of power may not be written as %j: %s', (raw, problem) => {
  expect(powerPrice.parse(raw)).toBeUndefined()
  expect(powerPrice.problem?.(raw)).toBe(problem)
})
