import { expect, it } from 'vitest'
import { amountText, moneyText } from '../../src/ground/base/money-text.ts'

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
])('the amount %d is written %s as money', (amount, text) => {
  expect(moneyText(amount, 'USD')).toBe(text)
})
