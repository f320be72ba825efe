import { workLies } from './lies/work.ts'
import { lying, testLies } from './run-lies.ts'

testLies(lying(workLies), { graph: 'triangle' })
