import { testKilledNode } from './kill-node.ts'

testKilledNode({ kills: 2, reorganisations: 2 })
