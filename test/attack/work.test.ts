import { workLies } from './lies/work.ts'
import { testLies } from './run-lies.ts'

testLies(workLies, 'triangle')
