import { lastingLies } from './lies/lasting.ts'
import { lying, testLiesForEver } from './run-lies.ts'

testLiesForEver(lying(lastingLies))
