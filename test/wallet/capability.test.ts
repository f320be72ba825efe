import { describe, expect, it } from 'vitest'
import { readCapability } from '../../src/client/wallet/capability.ts'

describe('a capability', () => {
  it.each([
    ['(coin.GAS)', 'coin.GAS', []],
    ['(coin.TRANSFER "a" \'b 1.0)', 'coin.TRANSFER', ['a', 'b', { decimal: '1.0' }]],
    ['(free.m.CAP 1 -2 true false)', 'free.m.CAP', [{ int: 1 }, { int: -2 }, true, false]],
    ['(m.C 123456789012345678901234567890)', 'm.C', [{ int: '123456789012345678901234567890' }]],
    ['(m.C 0.1234567890123456789)', 'm.C', [{ decimal: '0.1234567890123456789' }]],
    ['(m.C [1 "x"] {"a": 1.5, \'b: []})', 'm.C', [[{ int: 1 }, 'x'], { a: { decimal: '1.5' }, b: [] }]],
  ])('the capability %s is read', (text, name, args) => {
    expect(readCapability(text)).toEqual({ name, args })
  })

  it.each([
    ['coin.GAS', 'not one form in parentheses'],
    ['(coin.GAS) (coin.GAS)', 'not one form in parentheses'],
    ['', 'not one form in parentheses'],
    ['(GAS)', 'its name is not module.CAP'],
    ['(a.b.c.d)', 'its name is not module.CAP'],
    ['("coin.GAS")', 'its name is not module.CAP'],
    ['(m.C (+ 1 2))', '(+ 1 2) is code; arguments are plain values'],
    ['(m.C [x])', '[x] is code'],
    ['(m.C', 'Expected'],
  ])('the capability %s is refused', (text, message) => {
    expect(() => readCapability(text)).toThrow(expect.objectContaining({ code: 'BAD_OPTION' }))
    expect(() => readCapability(text)).toThrow(message)
  })
})
