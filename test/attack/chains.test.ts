import { chainLies } from './lies/chains.ts'
import { testLies } from './run-lies.ts'

testLies(chainLies, 'triangle')
