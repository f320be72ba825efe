import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { coinsText, exactSum, exactText, exactUnits, fractionOf, unitsOf } from '../../src/ground/base/coins.ts'

describe('amounts', () => {
  it.each([
    ['1', 1_000_000_000_000n, '1.0'],
    ['1.5', 1_500_000_000_000n, '1.5'],
    ['0.000000000001', 1n, '0.000000000001'],
    ['2.3045000000000000', 2_304_500_000_000n, '2.3045'],
    ['0', 0n, '0.0'],
  ])('%s is %s units, written %s', (text, units, written) => {
    expect(unitsOf(text)).toBe(units)
    expect(coinsText(units)).toBe(written)
  })

  it.each(['', '-1', '1e3', '.5', '1.', '0.0000000000001', '1,5', ' 1'])('%j is not an amount', (text) => {
    expect(unitsOf(text)).toBeNull()
  })

  it('amounts survive a write and a read', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), (units) => {
        expect(unitsOf(coinsText(units))).toBe(units)
      }),
    )
  })

  it('amounts below zero are written with their sign', () => {
    expect(coinsText(-1n)).toBe('-0.000000000001')
    expect(coinsText(-1_500_000_000_000n)).toBe('-1.5')
  })

  it('fractions of amounts are exact', () => {
    expect(fractionOf('0.30')).toEqual({ numerator: 30n, denominator: 100n })
    expect(fractionOf('-1')).toBeNull()
  })

  it('amounts with more digits than contracts compute with are not parsed', () => {
    expect(fractionOf(`${'9'.repeat(30)}.${'9'.repeat(60)}`)).not.toBeNull()
    for (const text of ['9'.repeat(31), `0.${'9'.repeat(61)}`]) expect(fractionOf(text)).toBeNull()
  })
})

it('a sum of coins is exact to 20 places', () => {
  expect(exactSum(['1.1522615', '0.00000000000000000001', '2'])).toBe('3.15226150000000000001')
  expect(exactSum([])).toBe('0')
  expect(exactSum(['0.5', '0.5'])).toBe('1')
  expect(exactSum(['90071992547409930.1', '0.2'])).toBe('90071992547409930.3')
  expect(exactText(exactUnits('99999999999999999999.5'))).toBe('99999999999999999999.5')
})

it.each(['', 'many', '-1', '1.', '1e5', '0.000000000000000000001'])('%j is not an amount of coins', (text) => {
  expect(() => exactUnits(text)).toThrow(RangeError)
})
