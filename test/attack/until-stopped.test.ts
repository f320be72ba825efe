import { lastingLies } from './lies/lasting.ts'
import { lying, testLiesUntilStopped } from './run-lies.ts'

testLiesUntilStopped(lying(lastingLies))
