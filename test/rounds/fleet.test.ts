/** Many rounds; NEWCUT_TEST_ROUNDS says how many. fleet-each.test.ts kills each once. */
import { fleetRoundOf, testFleetKills } from './fleet-rounds.ts'

const ROUNDS = Number(process.env.NEWCUT_TEST_ROUNDS ?? 12)
const rounds = Array.from({ length: ROUNDS }, (_, i) => fleetRoundOf(i))

testFleetKills(
  `${ROUNDS} kills and stops of leaders, rigs and NATS server lose no solution`,
  rounds,
  ROUNDS > 20 ? 12_000 : 4_000,
)
