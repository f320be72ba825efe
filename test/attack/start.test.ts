import { slowStartLies, startLies, textLies } from './lies/start.ts'
import { lying, testLiesAtStart } from './run-lies.ts'

testLiesAtStart(lying([...slowStartLies, ...startLies, ...textLies]))
