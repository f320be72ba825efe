import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quoteForCode } from '../../src/client/wallet/capability.ts'
import { buildCrossing, buildTransfer, keysetOf, readAmount } from '../../src/client/wallet/transfer.ts'
import type { CallForm, StringForm } from '../../src/language/contracts/syntax/form.ts'
import { read } from '../../src/language/contracts/syntax/reader.ts'

const KEY = 'ab'.repeat(32)
const transfer = { from: 'alice', to: `k:${KEY}`, amount: readAmount('1.5') }
const GAS = { name: 'coin.GAS', args: [] }

describe('an amount', () => {
  it.each([
    ['1', '1.0'],
    ['1.5', '1.5'],
    ['0.000000000001', '0.000000000001'],
    ['123456789012345678901234567890.123456789012', '123456789012345678901234567890.123456789012'],
    ['2.0000000000000000', '2.0000000000000000'],
  ])('the amount %s is written %s in code', (text, code) => {
    expect(readAmount(text).toString()).toBe(code)
  })

  it.each(['0', '0.0', '-1', '1e3', '1,5', '.5', '1.', '', 'x', '0.0000000000001', '1 '])(
    'the amount %j is refused',
    (text) => {
      expect(() => readAmount(text)).toThrow(
        `amount ${text} is not a number of coins above 0 with at most 12 decimal places`,
      )
    },
  )
})

describe('a transfer', () => {
  it('a transfer to an account that exists needs its name only', () => {
    expect(buildTransfer(transfer, null)).toEqual({
      payload: { code: `(coin.transfer "alice" "k:${KEY}" 1.5)`, data: '{}' },
      capabilities: [GAS, { name: 'coin.TRANSFER', args: ['alice', `k:${KEY}`, { decimal: '1.5' }] }],
    })
  })

  it('a transfer to a new account carries its keyset', () => {
    const { code, data } = buildTransfer(transfer, keysetOf(transfer.to)).payload as { code: string; data: string }
    expect(code).toBe(`(coin.transfer-create "alice" "k:${KEY}" (read-keyset "receiver-guard") 1.5)`)
    expect(JSON.parse(data)).toEqual({ 'receiver-guard': { keys: [KEY], pred: 'keys-all' } })
  })

  it('a transfer to another chain names the chain in code and capability', () => {
    const { payload, capabilities } = buildCrossing(transfer, { keys: [KEY], pred: 'keys-any' }, 7)
    expect(payload).toEqual({
      code: `(coin.transfer-crosschain "alice" "k:${KEY}" (read-keyset "receiver-guard") "7" 1.5)`,
      data: JSON.stringify({ 'receiver-guard': { keys: [KEY], pred: 'keys-any' } }),
    })
    expect(capabilities).toEqual([
      GAS,
      { name: 'coin.TRANSFER_XCHAIN', args: ['alice', `k:${KEY}`, { decimal: '1.5' }, '7'] },
    ])
  })

  it('a transfer to a receiver that a named keyset guards names the keyset', () => {
    expect(buildCrossing(transfer, { keysetName: 'free.admins' }, 1).payload).toMatchObject({
      code: `(coin.transfer-crosschain "alice" "k:${KEY}" (keyset-ref-guard "free.admins") "1" 1.5)`,
      data: '{}',
    })
  })
})

it('account names stay one string in code, whatever they contain', () => {
  fc.assert(
    // Pact strings have no escape for a carriage return.
    fc.property(fc.string({ unit: fc.constantFrom(...'ab "\\\'()\n\tä😀;') }), (name) => {
      const [form] = read(`(f ${quoteForCode(name)})`) as [CallForm]
      expect((form.items[1] as StringForm).value).toBe(name)
      expect(form.items).toHaveLength(2)
    }),
  )
})

it.each([`k:${'AB'.repeat(32)}`, `k:${KEY}0`, 'w:x:keys-all', KEY])(
  'the account %s is not guarded by its name',
  (account) => {
    expect(keysetOf(account)).toBeNull()
  },
)
