/** One lie of each family. The other files of this folder cover all lies. */
import { chainLies } from './lies/chains.ts'
import { everythingLies } from './lies/everything.ts'
import { lastingLies } from './lies/lasting.ts'
import { solvedLies } from './lies/solved.ts'
import { startLies, textLies } from './lies/start.ts'
import { updatesLies } from './lies/updates.ts'
import { workLies } from './lies/work.ts'
import { testLies, testLiesAtStart, testLiesForEver } from './run-lies.ts'

const firstOf = (kind: string) => startLies.filter(({ property }) => property.kind === kind).slice(0, 1)

testLies([workLies, solvedLies, updatesLies, chainLies, everythingLies].map(([first]) => first))
testLiesAtStart([...firstOf('ends'), ...firstOf('waits'), textLies[0]])
testLiesForEver(lastingLies.slice(0, 1))
