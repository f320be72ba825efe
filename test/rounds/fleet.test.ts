/** Many kills, as many as TEST_ROUNDS says. fleet-each.test.ts kills each process once. */
import { rotation, roundsOf } from '../rotation.ts'
import { fleetRoundOf, testFleetKills } from './fleet-rounds.ts'

const ROUNDS = roundsOf(12, 4)
const rounds = Array.from({ length: ROUNDS }, (_, i) => fleetRoundOf(rotation * ROUNDS + i))

testFleetKills(
  `${ROUNDS} kills and stops of leaders, rigs and NATS server lose no solution`,
  rounds,
  ROUNDS > 20 ? 12_000 : 4_000,
)
