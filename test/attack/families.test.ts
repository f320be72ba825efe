/** One lie of each family. The other files of this folder cover all lies. */
import { afterAll } from 'vitest'
import { paceSearch } from '../pace.ts'
import { Lanes } from './lane.ts'
import { chainLies } from './lies/chains.ts'
import { everythingLies } from './lies/everything.ts'
import { lastingLies } from './lies/lasting.ts'
import { solvedLies } from './lies/solved.ts'
import { startLies, textLies } from './lies/start.ts'
import { updatesLies } from './lies/updates.ts'
import { workLies } from './lies/work.ts'
import { testLies, testLiesAtStart, testLiesUntilStopped } from './run-lies.ts'

paceSearch(60)

const firstOf = (kind: string) => startLies.filter(({ property }) => property.kind === kind).slice(0, 1)

const lies = [workLies, solvedLies, updatesLies, chainLies, everythingLies].map(([first]) => first)
const lasting = lastingLies.slice(0, 1)
const atStart = [...firstOf('ends'), ...firstOf('waits'), textLies[0]]
const lanes = new Lanes(lies.length + lasting.length + atStart.length, 'triangle')
afterAll(() => lanes.close())
testLies(lies, { lanes })
testLiesUntilStopped(lasting, { lanes })
testLiesAtStart(atStart, { lanes })
