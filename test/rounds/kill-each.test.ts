import { oneKillOfEach, testKills } from './kill-rounds.ts'

testKills(
  'a miner, its node, both, its search thread and its GPU child are killed: no solution is lost',
  oneKillOfEach,
  0,
)
