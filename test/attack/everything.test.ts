import { everythingLies } from './lies/everything.ts'
import { lying, testLies } from './run-lies.ts'

testLies(lying(everythingLies))
