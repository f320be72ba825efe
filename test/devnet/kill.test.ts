/** Many kills; NEWCUT_TEST_ROUNDS says how many. kill-once.test.ts has the fewest that show something. */
import { testKilledNode } from './kill-node.ts'

testKilledNode({ kills: Number(process.env.NEWCUT_TEST_ROUNDS ?? 20), reorganisations: 8 })
