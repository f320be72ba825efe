import { updatesLies } from './lies/updates.ts'
import { lying, testLies } from './run-lies.ts'

testLies(lying(updatesLies), { graph: 'triangle' })
