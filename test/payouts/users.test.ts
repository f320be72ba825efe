import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { accountOfUser, payeeOf, unpaidReason } from '../../src/accounts/user-account.ts'
import { coinsText, fractionOf, unitsOf } from '../../src/payouts/coins.ts'
import { accountOf, keyOf } from './memory-shares.ts'

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

  it.each(['', '-1', '1e3', '.5', '1.', '0.0000000000001', '1,5', ' 1'])('%j is no amount', (text) => {
    expect(unitsOf(text)).toBeNull()
  })

  it('survive being written and read', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), (units) => {
        expect(unitsOf(coinsText(units))).toBe(units)
      }),
    )
  })

  it('below zero are written with their sign', () => {
    expect(coinsText(-1n)).toBe('-0.000000000001')
    expect(coinsText(-1_500_000_000_000n)).toBe('-1.5')
  })

  it('fractions are exact', () => {
    expect(fractionOf('0.30')).toEqual({ numerator: 30n, denominator: 100n })
    expect(fractionOf('-1')).toBeNull()
  })
})

describe('a user', () => {
  it.each([
    [keyOf('a'), accountOf('a')],
    [accountOf('a'), accountOf('a')],
    [keyOf('A'), accountOf('a')],
    [`k:${keyOf('B')}`, accountOf('b')],
    [`K:${keyOf('b')}`, accountOf('b')],
    [`K:${keyOf('B')}`, accountOf('b')],
  ])('%s is the account %s', (user, account) => {
    expect([accountOfUser(user), payeeOf(user), unpaidReason(user)]).toEqual([account, account, null])
  })

  it.each(['', 'alice', 'k:', `k:${'a'.repeat(63)}`, `w:${keyOf('a')}`, `${keyOf('a')}0`, 'others'])(
    '%j names no account, and keeps its name',
    (user) => {
      expect([accountOfUser(user), payeeOf(user)]).toEqual([null, user])
      expect(unpaidReason(user)).not.toBeNull()
    },
  )

  it.each([
    ['alice', 'its name is not a k: account, which is k: and 64 hex digits'],
    ['beef', 'its name is not a k: account, which is k: and 64 hex digits'],
    [`w:${keyOf('a')}`, 'its name is not a k: account, which is k: and 64 hex digits'],
    ['k:', 'it looks like a k: account, but its key has 0 hex digits, not 64'],
    [`K:${'a'.repeat(63)}`, 'it looks like a k: account, but its key has 63 hex digits, not 64'],
    [`${keyOf('a')}0`, 'it looks like a k: account, but its key has 65 hex digits, not 64'],
    [`k:${'a'.repeat(63)}g`, 'it looks like a k: account, but its key has g, which is not a hex digit'],
  ])('%s cannot be paid, with the reason', (user, reason) => {
    expect(unpaidReason(user)).toBe(reason)
  })
})
