import { describe, expect, it } from 'vitest'
import { checkPayee, type Payee, paidAccountOn, paidLine } from '../../src/compose/payee.ts'
import { DEVELOPMENT_KEY } from '../../src/ground/chain/development-accounts.ts'

const KEY = 'ab'.repeat(32)
const OTHER = 'cd'.repeat(32)

function payee(asked: Partial<Payee>): Payee {
  return { account: null, predicate: 'keys-all', publicKeys: null, ...asked }
}

describe('checkPayee refuses accounts that no network pays', () => {
  it.each([
    [{ account: `k:${KEY}`, publicKeys: [OTHER] }, 'does not match `public-key: '],
    [{ account: 'k:short' }, '`account: k:short`: not a valid k: account'],
    [{ account: `k:${KEY.toUpperCase()}`, publicKeys: [KEY] }, 'not a valid k: account'],
    [{ account: `k:${KEY}`, publicKeys: [KEY, OTHER] }, 'a k: account has one key, and 2 public keys are given'],
    [{ publicKeys: [KEY, OTHER] }, 'a k: account has one key'],
    [{ account: `k:${KEY}`, predicate: 'keys-any' }, '`predicate: keys-any`: a k: account always has keys-all'],
    [{ account: 'alice', publicKeys: [KEY], predicate: 'keys-al' }, '`predicate: keys-al`: no such predicate'],
    [{ account: 'alice', publicKeys: [KEY], predicate: 'keys-3' }, '`predicate: keys-3`: no such predicate'],
    [{ account: 'alice', publicKeys: [KEY], predicate: 'a.b.c.d' }, '`predicate: a.b.c.d`: no such predicate'],
    [{ account: 'alice', publicKeys: [KEY], predicate: 'module.' }, '`predicate: module.`: no such predicate'],
  ])('checkPayee refuses an account that no network pays: %j', (asked, message) => {
    expect(() => checkPayee(payee(asked))).toThrow(message)
  })

  it('checkPayee lists the valid predicates', () => {
    expect(() => checkPayee(payee({ predicate: 'keys-al' }))).toThrow(
      expect.objectContaining({
        code: 'BAD_OPTION',
        hint: 'built in are keys-all, keys-any, keys-2; others are module.function or namespace.module.function',
      }),
    )
  })

  it.each([
    {},
    { publicKeys: [KEY] },
    { account: `k:${KEY}` },
    { account: `k:${KEY}`, publicKeys: [KEY] },
    { account: 'alice', publicKeys: [KEY, OTHER], predicate: 'keys-any' },
    { account: 'alice', publicKeys: [KEY, OTHER], predicate: 'keys-2' },
    { account: 'alice', publicKeys: [KEY], predicate: 'guards.one-of' },
    { account: 'w:xyz:free.guards.one-of', publicKeys: [KEY], predicate: 'free.guards.one-of' },
  ])('checkPayee accepts %j', (asked) => {
    expect(() => checkPayee(payee(asked))).not.toThrow()
  })
})

describe('accountOn', () => {
  it('paidAccountOn pays the account of the key by default', () => {
    const account = paidAccountOn('mainnet01', payee({ publicKeys: [KEY] }))
    expect(account).toEqual({ account: `k:${KEY}`, predicate: 'keys-all', publicKeys: [KEY], isBuiltIn: false })
    expect(paidLine(account)).toBe(`paid: k:${KEY} (keys-all)`)
  })

  it('paidAccountOn takes the key from the account k:KEY', () => {
    expect(paidAccountOn('mainnet01', payee({ account: `k:${KEY}` }))).toMatchObject({
      publicKeys: [KEY],
      isBuiltIn: false,
    })
  })

  it('paidAccountOn pays the built-in key on development networks', () => {
    const account = paidAccountOn('recap-development', payee({}))
    expect(account).toMatchObject({ account: `k:${DEVELOPMENT_KEY}`, publicKeys: [DEVELOPMENT_KEY], isBuiltIn: true })
    expect(paidLine(account)).toMatch(/^paid: k:[0-9a-f]{64}, the built-in key of development networks/)
  })

  it('paidAccountOn refuses to guess the payee elsewhere', () => {
    expect(() => paidAccountOn('mainnet01', payee({ account: 'alice' }))).toThrow('`public-key` is missing')
  })
})
