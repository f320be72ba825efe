/** Worker names of rigs at the pool. */
import { expect, it } from 'vitest'
import { workerNameFor } from '../../../src/mining/engine/passthrough/names.ts'

const name = (length: number) => 'abcdefgh'.repeat(8).slice(0, length)

it.each([
  ['X.worker7', 'worker7'],
  ['k:abc.shelf 1/a', 'shelf_1_a'],
  ['X.a.b', 'a_b'],
  ['worker7', 'worker7'],
  ['worker7+2^50', 'worker7'],
  // Without a dot, up to 32 characters are a name, and more are an account.
  [name(31), name(31)],
  [name(32), name(32)],
  [name(33), null],
  ['k:abc', null],
  // After a dot, the first 32 characters count.
  [`X.${name(40)}`, name(32)],
  ['X.', null],
  ['', null],
])('the user %j has the worker name %j', (user, worker) => {
  expect(workerNameFor(user)).toBe(worker)
})
