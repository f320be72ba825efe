/** Prices of gas in coins. */
import { expect, it } from 'vitest'
import { gasFeeOf } from '../../src/devnet/ledger/gas.ts'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'

it.each([
  ['0.00000001', 600, '0.000006'],
  ['0.0000000000015', 2, '0.000000000003'],
  ['0.0000000000015', 3, '0.000000000004'],
  ['0.0000000000015', 5, '0.000000000008'],
  ['0.00000000000001', 1, '0'],
  ['2.50', 4, '10'],
])('a gas price of %s makes %i gas cost %s coins, rounded half to even at 12 places', (gasPrice, gas, coins) => {
  const price = Decimal.parse(gasPrice)
  if (price === null) throw new Error(`no number: ${gasPrice}`)
  const meta = { chainId: '0', sender: 's', gasLimit: gas, gasPrice: price, ttl: 600, creationTime: 0 }
  expect(gasFeeOf(gas, { meta }).toString()).toBe(coins)
})
