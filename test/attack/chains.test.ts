import { chainLies } from './lies/chains.ts'
import { lying, testLies } from './run-lies.ts'

testLies(lying(chainLies), { graph: 'triangle' })
