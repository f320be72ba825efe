import { expect, it } from 'vitest'
import { Usefulness } from '../../bench/usefulness.ts'

it('usefulness counts the loss from a cut until other work is searched, and the part that no notification could have saved', () => {
  const usefulness = new Usefulness(50)
  usefulness.work(3, 7, 0)
  usefulness.start(1000)
  // Other chains do not count.
  usefulness.cut(4, 9, 1100)
  usefulness.cut(3, 7, 1200)
  usefulness.work(5, 2, 1260)
  expect(usefulness.chain).toBe(5)
  const { usefulOfAll, usefulOfPossible, lostMs } = usefulness.end(2000)
  expect(lostMs).toEqual([60])
  expect(usefulOfAll).toBeCloseTo(94)
  expect(usefulOfPossible).toBeCloseTo((100 * 940) / 950)
})

it('usefulness counts work that is already stale when it is taken up as lost', () => {
  const usefulness = new Usefulness(50)
  usefulness.work(3, 7, 0)
  usefulness.start(0)
  usefulness.cut(4, 9, 100)
  usefulness.work(4, 9, 200)
  usefulness.work(4, 10, 300)
  expect(usefulness.end(1000)).toEqual({ usefulOfAll: 90, usefulOfPossible: 90, lostMs: [100] })
})

it('usefulness splits a loss that is still going on at the end among the stretches', () => {
  const usefulness = new Usefulness(0)
  usefulness.work(3, 7, 0)
  usefulness.start(0)
  usefulness.cut(3, 7, 500)
  expect(usefulness.end(1000).usefulOfAll).toBe(50)
  usefulness.start(1000)
  usefulness.work(3, 8, 1500)
  expect(usefulness.end(2000).usefulOfAll).toBe(50)
})
