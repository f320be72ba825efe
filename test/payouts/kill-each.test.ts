import { afterEach, expect, it } from 'vitest'
import { stopAll } from '../cli/run.ts'
import { payAndKill, steps } from './kill-rounds.ts'

afterEach(stopAll)

it('a payer killed once at each step pays every user once', async ({ annotate }) => {
  const told = await payAndKill(steps, 1)
  await annotate(told)
  expect(told).toContain('balances')
})
