import { expect, it } from 'vitest'
import { limiter } from '../../src/mining/source/node/limit.ts'

it('the limiter runs a limited number of tasks at once, and all of them in the end, failed ones too', async () => {
  const run = limiter(2)
  let [running, most] = [0, 0]
  const done: number[] = []
  const task = (index: number) => async () => {
    most = Math.max(most, ++running)
    // Lets other tasks run.
    await new Promise(setImmediate)
    running--
    done.push(index)
    if (index === 1) throw new Error('failed')
  }
  const results = await Promise.allSettled([0, 1, 2, 3, 4].map((index) => run(task(index))))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
  expect(done).toEqual([0, 1, 2, 3, 4])
  expect(most).toBe(2)
})
