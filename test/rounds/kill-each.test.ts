import { paceSearch } from '../pace.ts'
import { oneKillOfEach, testKills } from './kill-rounds.ts'

paceSearch()

testKills('a miner and its node, its search thread and its GPU child are killed: no solution is lost', oneKillOfEach, 0)
