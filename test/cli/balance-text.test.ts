import { describe, expect, it } from 'vitest'
import { balanceJson, balanceLines } from '../../src/commands/results/balance-lines.ts'
import { valueText } from '../../src/commands/results/value-lines.ts'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'

const balances = (texts: readonly (string | null)[]) =>
  new Map(texts.map((text, chain) => [chain, text === null ? null : Decimal.parse(text)]))

describe('balances', () => {
  it('balances align at their decimal points, and the total is exact', () => {
    expect(balanceLines('me', balances([null, '1.5', '1000', null, null, '0.000000000001', null]))).toEqual([
      'me',
      'chain 1      1.5',
      'chain 2   1000.0',
      'chain 5      0.000000000001',
      'total     1001.500000000001',
      'not on    0, 3-4, 6',
    ])
  })

  it('balances lose no digit in JSON', () => {
    const json = balanceJson('me', balances(['123456789012345678.123456789012', null]))
    const amount = '123456789012345678.123456789012'
    expect(JSON.parse(json)).toEqual({ account: 'me', total: amount, chains: { 0: amount, 1: null } })
  })
})

it('control characters in contract values do not move the cursor', () => {
  expect(valueText('a\u001b[31m\u009b1mb\u202e\nc\td')).toBe('"a [31m 1mb \nc\td"')
})
