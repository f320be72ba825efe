/** The connections that file descriptors leave for rigs. */
import { expect, it } from 'vitest'
import { rigLimits } from '../../src/compose/search/stratum.ts'
import { MAX_SESSIONS } from '../../src/mining/engine/stratum/limits.ts'

it.each([
  ['all, without a limit of descriptors', 0, null, MAX_SESSIONS],
  ['those that other parts leave', 0, 1024, 768],
  ['those that the sessions with the pool leave too', 128, 1024, 640],
  ['at least one', 5000, 1024, 1],
  ['half of few', 0, 100, 50],
  ['half of few, without the sessions with the pool', 20, 100, 30],
])('the limits of rigs allow %s', (_, others, descriptors, sessions) => {
  expect(rigLimits({ perAddress: 8 }, others, descriptors)).toMatchObject({ sessions, sessionsPerAddress: 8 })
})
