import { lastingLies } from './lies/lasting.ts'
import { testLiesForEver } from './run-lies.ts'

testLiesForEver(lastingLies)
