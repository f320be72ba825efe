import { everythingLies } from './lies/everything.ts'
import { testLies } from './run-lies.ts'

testLies(everythingLies)
