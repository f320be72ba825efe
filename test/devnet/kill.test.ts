/** Many kills; TEST_ROUNDS sets the number. kill-once.test.ts has the smallest useful number. */
import { roundsOf } from '../rotation.ts'
import { testKilledNode } from './kill-node.ts'

testKilledNode({ kills: roundsOf(20, 4), reorganisations: 8, steps: 7 })
