/** Many kills in random order, as many as TEST_ROUNDS says. kill-each.test.ts kills once at each step. */
import { afterEach, expect, it } from 'vitest'
import { stopAll } from '../cli/run.ts'
import { rotation, roundsOf } from '../rotation.ts'
import { payAndKill, steps } from './kill-rounds.ts'

afterEach(stopAll)

const ROUNDS = roundsOf(14, 3)

it(
  `${ROUNDS} kills of a payer pay every user once`,
  async ({ annotate }) => {
    const rounds = Array.from({ length: ROUNDS }, (_, i) => steps[(rotation * ROUNDS + i) % steps.length])
    const told = await payAndKill(rounds, Math.floor(2 ** 31 * Math.random()))
    await annotate(told)
    expect(told).toContain('balances')
  },
  300_000 + ROUNDS * 30_000,
)
