import { updatesLies } from './lies/updates.ts'
import { testLies } from './run-lies.ts'

testLies(updatesLies, 'triangle')
