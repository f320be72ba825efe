/** Many kills; NEWCUT_TEST_ROUNDS sets the number. kill-once.test.ts has the smallest useful number. */
import { testKilledNode } from './kill-node.ts'

testKilledNode({ kills: Number(process.env.NEWCUT_TEST_ROUNDS ?? 20), reorganisations: 8 })
