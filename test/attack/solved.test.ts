import { solvedLies } from './lies/solved.ts'
import { testLies } from './run-lies.ts'

testLies(solvedLies, 'triangle')
