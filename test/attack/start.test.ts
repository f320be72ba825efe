import { slowStartLies, startLies, textLies } from './lies/start.ts'
import { testLiesAtStart } from './run-lies.ts'

testLiesAtStart([...slowStartLies, ...startLies, ...textLies])
