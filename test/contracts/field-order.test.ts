import { expect, it } from 'vitest'
import { inWireOrder } from '../../src/language/contracts/values/field-order.ts'

it.each([
  // The order in outputs of the public network.
  [['gas', 'result', 'reqKey', 'logs', 'events', 'metaData', 'continuation', 'txId']],
  [['account', 'predicate', 'public-keys']],
  [['gas-price', 'gas-limit', 'sender', 'prev-block-hash', 'chain-id', 'block-height', 'block-time']],
])('the fields %j are written in this order', (names) => {
  const fields = [...names].sort().map((name) => [name, name] as const)
  expect(inWireOrder(fields).map(([name]) => name)).toEqual(names)
})
