import { describe, expect, it } from 'vitest'
import { accountOfUser, payeeOfUser, unpaidReason } from '../../src/mining/accounts/user-account.ts'
import { accountOf, keyOf } from './memory-shares.ts'

describe('a user', () => {
  it.each([
    [keyOf('a'), accountOf('a')],
    [accountOf('a'), accountOf('a')],
    [keyOf('A'), accountOf('a')],
    [`k:${keyOf('B')}`, accountOf('b')],
    [`K:${keyOf('b')}`, accountOf('b')],
    [`K:${keyOf('B')}`, accountOf('b')],
  ])('the user %s is the account %s', (user, account) => {
    expect(accountOfUser(user)).toEqual(account)
    expect(payeeOfUser(user)).toEqual(account)
    expect(unpaidReason(user)).toBe(null)
  })

  it.each(['', 'alice', 'k:', `k:${'a'.repeat(63)}`, `w:${keyOf('a')}`, `${keyOf('a')}0`, 'others'])(
    'the user %j names no account, and keeps its name',
    (user) => {
      expect(accountOfUser(user)).toBe(null)
      expect(payeeOfUser(user)).toEqual(user)
      expect(unpaidReason(user)).not.toBeNull()
    },
  )

  it.each([
    ['alice', 'its name is not a k: account, which is k: and 64 hex digits'],
    ['a'.repeat(31), 'its name is not a k: account, which is k: and 64 hex digits'],
    ['a'.repeat(32), 'it looks like a k: account, but its key has 32 hex digits, not 64'],
    ['beef', 'its name is not a k: account, which is k: and 64 hex digits'],
    [`w:${keyOf('a')}`, 'its name is not a k: account, which is k: and 64 hex digits'],
    ['k:', 'it looks like a k: account, but its key has 0 hex digits, not 64'],
    [`K:${'a'.repeat(63)}`, 'it looks like a k: account, but its key has 63 hex digits, not 64'],
    [`${keyOf('a')}0`, 'it looks like a k: account, but its key has 65 hex digits, not 64'],
    [`k:${'a'.repeat(63)}g`, 'it looks like a k: account, but its key has g, which is not a hex digit'],
  ])('the user %s cannot be paid, with the reason', (user, reason) => {
    expect(unpaidReason(user)).toBe(reason)
  })
})
