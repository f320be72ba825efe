import { testFleetKills } from './fleet-rounds.ts'

testFleetKills(
  'a rig, the leader and the NATS server of a fleet are killed: no solution is lost',
  (['rig', 'leader', 'nats'] as const).map((target) => ({ target, act: 'kill' })),
  0,
)
