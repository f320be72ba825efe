import { solvedLies } from './lies/solved.ts'
import { lying, testLies } from './run-lies.ts'

testLies(lying(solvedLies), { graph: 'triangle' })
