/** Thousands of random programs, others in each run: their gas is that of the model. */
import { expect, it } from 'vitest'
import { rotation, roundsOf } from '../../rotation.ts'
import { checkPrograms } from './check.ts'

const PROGRAMS = roundsOf(5000, 1000)
/** Beyond the seeds of the quick set. */
const FIRST = 10_000

it(`the gas of ${PROGRAMS} random programs is that of the model`, () => {
  const from = FIRST + rotation * PROGRAMS
  expect(checkPrograms({ from, to: from + PROGRAMS }).found).toEqual([])
})
