import { expect, it } from 'vitest'
import { feesOf, type PaidTransaction } from '../../src/ground/chain/block-fees.ts'

const paid = (gasPrice: string, gas: string): PaidTransaction => [
  JSON.stringify({ hash: 'h', sigs: [], cmd: `{"networkId":"n","meta":{"gasLimit":9999,"gasPrice":${gasPrice}}}` }),
  `{"gas":${gas},"result":{"status":"success","data":1}}`,
]

it.each([
  ['a decimal number', '0.00000001', '736', '0.00000736'],
  ['an exponent', '1e-8', '736', '0.00000736'],
  ['an integer', '2', '3', '6'],
  ['more digits than a double holds', '0.1234567890123', '1', '0.123456789012'],
  ['an exact decimal in an object', '{"decimal":"0.000001"}', '254', '0.000254'],
  ['an integer in an object', '{"int":1}', '254', '254'],
  ['no gas', '0.5', '0', '0'],
  ['half a unit, which goes to the even one below', '0.0000000000005', '1', '0'],
  ['three halves of a unit, which go to the even one above', '0.0000000000005', '3', '0.000000000002'],
])('the fee of a gas price of %s', (_what, price, gas, fee) => {
  expect(feesOf([paid(price, gas)])).toBe(fee)
})

it('feesOf sums all transactions exactly; a block without any has no fees', () => {
  expect(feesOf([])).toBe('0')
  expect(feesOf([paid('0.1', '1'), paid('0.2', '1')])).toBe('0.3')
})

it.each([
  ['a transaction that is no JSON', ['{', '{"gas":1}']],
  ['a transaction without a command', ['{}', '{"gas":1}']],
  ['a command that is no JSON', ['{"cmd":"{"}', '{"gas":1}']],
  ['no gas price', ['{"cmd":"{\\"meta\\":{}}"}', '{"gas":1}']],
  ['an output that is no JSON', [paid('1', '1')[0], 'null}']],
  ['an output without gas', [paid('1', '1')[0], '{}']],
  ['gas below 0', paid('1', '-1')],
  ['a price below 0', paid('-1', '1')],
  ['a list', ['[]', '[]']],
] as const)('the fees of a block with %s are unknown', (_what, pair) => {
  expect(feesOf([paid('1', '1'), pair as PaidTransaction])).toBeNull()
})
