import { testKilledNode } from './kill-node.ts'

testKilledNode({ kills: 1, reorganisations: 1, steps: 3 })
