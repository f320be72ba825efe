/** Many kills, as many as TEST_ROUNDS says. kill-each.test.ts kills each target once. */
import { rotation, roundsOf } from '../rotation.ts'
import { roundOf, testKills } from './kill-rounds.ts'

const ROUNDS = roundsOf(20, 4)
const rounds = Array.from({ length: ROUNDS }, (_, i) => roundOf(rotation * ROUNDS + i))

testKills(
  `${ROUNDS} kills and stops of miner, search thread, GPU child and node lose no solution`,
  rounds,
  ROUNDS > 20 ? 6000 : 1200,
)
