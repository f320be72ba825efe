import { expect, it } from 'vitest'
import { sizeGas } from '../../src/core/gas.ts'

it('computes the gas for the size of a command exactly', () => {
  const examples: readonly (readonly [bytes: number, gas: number])[] = [
    [0, 0],
    [1, 1],
    [500, 6],
    [10_000, 101],
    [100_000, 1109],
  ]
  for (const [bytes, gas] of examples) expect(sizeGas(bytes)).toBe(gas)
})

it('does not round 100 and 200 bytes down, as doubles do', () => {
  expect(sizeGas(100)).toBe(2)
  expect(sizeGas(200)).toBe(3)
})
