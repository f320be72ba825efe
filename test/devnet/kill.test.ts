import { testKilledNode } from './kill-node.ts'

testKilledNode({ kills: 50, reorganisations: 8 })
