import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'
import { decimals } from './values.ts'

const parsed = (text: string): Decimal => {
  const decimal = Decimal.parse(text)
  if (decimal === null) throw new Error(`${text} is not a decimal`)
  return decimal
}
/** Scales to an integer, so that numbers with 60 places and their products stay whole. */
const SCALE = 10n ** 120n
const scaled = ({ mantissa, places }: Decimal): bigint => (mantissa * SCALE) / 10n ** BigInt(places)

it('a decimal keeps its places as written, and drops them on request', () => {
  expect(parsed('1.50').toString()).toBe('1.50')
  expect(parsed('1.50').normalise().toString()).toBe('1.5')
  expect(parsed('-0.05').toString()).toBe('-0.05')
  expect(parsed('100.00').normalise().toString()).toBe('100')
  expect(parsed('100.00').toSource()).toBe('100.0')
  expect(parsed('-0.30').toSource()).toBe('-0.30')
  expect(Decimal.of(7n).toSource()).toBe('7.0')
  expect(parsed('0.00').toSource()).toBe('0.0')
})

it('a decimal is read with an exponent within bounds, and only from a number', () => {
  expect(parsed('1e-8').toString()).toBe('0.00000001')
  expect(parsed('2.5E3').toString()).toBe('2500')
  for (const text of ['', '.5', '1.', '1e', '0x1', ' 1', '1 ', '1e9999', '1e-999999999', `1.${'0'.repeat(256)}`]) {
    expect(Decimal.parse(text), text).toBeNull()
  }
  expect(Decimal.parse(`1.${'0'.repeat(255)}`)?.places).toBe(255)
  expect(() => new Decimal(1n, 256)).toThrow(RangeError)
})

it('the text and the number of a decimal agree', () => {
  fc.assert(
    fc.property(decimals, (a) => {
      expect(parsed(a.toString())).toEqual(a)
      expect(parsed(a.toSource()).compare(a)).toBe(0)
      expect(a.normalise().compare(a)).toBe(0)
      const { mantissa, places } = a.normalise()
      expect(places === 0 || mantissa % 10n !== 0n).toBe(true)
    }),
  )
})

it('decimals add, subtract, multiply and compare as integers of a common scale do', () => {
  fc.assert(
    fc.property(decimals, decimals, (a, b) => {
      expect(scaled(a.add(b))).toBe(scaled(a) + scaled(b))
      expect(scaled(a.sub(b))).toBe(scaled(a) - scaled(b))
      expect(scaled(a.mul(b)) * SCALE).toBe(scaled(a) * scaled(b))
      expect(Math.sign(a.compare(b))).toBe(scaled(a) < scaled(b) ? -1 : scaled(a) > scaled(b) ? 1 : 0)
      expect(scaled(a.abs())).toBe(scaled(a) < 0n ? -scaled(a) : scaled(a))
      expect(a.add(b).places).toBe(Math.max(a.places, b.places))
    }),
  )
})

it('a quotient of decimals has at most 255 places', () => {
  expect(Decimal.of(2n).div(Decimal.of(3n)).toString()).toBe(`0.${'6'.repeat(254)}7`)
  expect(Decimal.of(-1n).div(Decimal.of(3n)).toString()).toBe(`-0.${'3'.repeat(255)}`)
  expect(parsed('15.0').div(parsed('2.5')).toString()).toBe('6')
  expect(() => Decimal.of(1n).div(parsed('0.0'))).toThrow(RangeError)
  fc.assert(
    fc.property(decimals, decimals, (a, b) => {
      fc.pre(b.mantissa !== 0n)
      const quotient = a.div(b)
      // The result differs from the true quotient by at most half a unit in the last place.
      const [n, d] = [a.mantissa * 10n ** BigInt(b.places), b.mantissa * 10n ** BigInt(a.places)]
      const off = 2n * (quotient.mantissa * 10n ** BigInt(255 - quotient.places) * d - n * 10n ** 255n)
      expect((off < 0n ? -off : off) <= (d < 0n ? -d : d)).toBe(true)
    }),
  )
})

it('a product beyond 255 places is rounded to them, half to even', () => {
  const small = new Decimal(1n, 200)
  expect(small.mul(small).toString()).toBe('0')
  expect(new Decimal(5n, 255).mul(parsed('0.1')).mantissa).toBe(0n)
  expect(new Decimal(15n, 255).mul(parsed('0.1')).mantissa).toBe(2n)
  expect(new Decimal(-15n, 255).mul(parsed('0.1')).mantissa).toBe(-2n)
})

it('decimals round half to even; floor and ceiling keep their direction for negative numbers', () => {
  const rounded = (text: string, places: number) => {
    const a = parsed(text)
    return [a.round(places), a.floor(places), a.ceiling(places)].map(String)
  }
  expect(rounded('2.5', 0)).toEqual(['2', '2', '3'])
  expect(rounded('3.5', 0)).toEqual(['4', '3', '4'])
  expect(rounded('-2.5', 0)).toEqual(['-2', '-3', '-2'])
  expect(rounded('100.1239', 3)).toEqual(['100.124', '100.123', '100.124'])
  expect(rounded('1.5', 3)).toEqual(['1.500', '1.500', '1.500'])
  expect(() => parsed('1.5').round(-1)).toThrow(RangeError)
})

it('a rounded decimal is the nearest integer, at a tie the even one, between floor and ceiling', () => {
  const wide = fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n })
  const mantissas = fc.oneof(
    fc.bigInt({ min: -60n, max: 60n }).map((n) => n * 5n),
    wide,
  )
  fc.assert(
    fc.property(mantissas, fc.integer({ min: 3, max: 40 }), fc.integer({ min: -3, max: 3 }), (mantissa, of, more) => {
      const to = of + more
      const a = new Decimal(mantissa, of)
      const [nearest, below, above] = [a.round(to), a.floor(to), a.ceiling(to)]
      expect(nearest.places).toEqual(to)
      expect(below.places).toEqual(to)
      expect(above.places).toEqual(to)
      const one = 10n ** BigInt(Math.max(0, of - to))
      const exact = mantissa * 10n ** BigInt(Math.max(0, to - of))
      expect(below.mantissa * one <= exact && exact < (below.mantissa + 1n) * one).toBe(true)
      expect((above.mantissa - 1n) * one < exact && exact <= above.mantissa * one).toBe(true)
      const off = 2n * (nearest.mantissa * one - exact)
      expect(off < one && off > -one ? true : off ** 2n === one ** 2n && nearest.mantissa % 2n === 0n).toBe(true)
    }),
  )
})

it('a double becomes a decimal with all its digits, and back', () => {
  expect(Decimal.fromNumberExact(0.1).toString()).toBe('0.1000000000000000055511151231257827021181583404541015625')
  expect(Decimal.fromNumberExact(2 ** 70).toString()).toBe((2n ** 70n).toString())
  expect(Decimal.fromNumberExact(-0.5).toString()).toBe('-0.5')
  expect(Decimal.fromNumberExact(5e-324).toString()).toBe('0')
  expect(() => Decimal.fromNumberExact(Number.NaN)).toThrow(RangeError)
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      fc.pre(value === 0 || Math.abs(value) > 1e-200)
      expect(Decimal.fromNumberExact(value).toNumber()).toBe(value + 0)
    }),
  )
})
