import { expect, it } from 'vitest'
import { SearchUse } from '../../bench/search-use.ts'
import { SliceLog } from '../../bench/slices.ts'

/** Slices of 10 ms with 100 hashes each. */
function slices(thread: number, sequence: number, fromMs: number, toMs: number) {
  const all = []
  for (let ms = fromMs; ms < toMs; ms += 10) all.push({ thread, sequence, fromMs: ms, toMs: ms + 10, hashes: 100 })
  return all
}

it('search use counts the hashes of each thread from a cut until it searches other work', () => {
  const use = new SearchUse(50)
  use.give(1, 3, 7)
  use.give(2, 5, 2)
  expect(use.chain).toBe(5)
  use.start(1000)
  // Other chains and lower blocks do not count.
  use.cut(4, 9, 1100)
  use.cut(3, 6, 1100)
  use.cut(3, 7, 1200)
  // One thread takes up the new work 60 ms after the cut, the other after 100 ms.
  use.addSlices([...slices(0, 1, 900, 1260), ...slices(0, 2, 1260, 2100)])
  use.addSlices([...slices(1, 1, 900, 1300), ...slices(1, 2, 1300, 2100)])
  const { usefulOfAll, usefulOfPossible, lostMs } = use.end(2000)
  expect(lostMs).toEqual([60, 100])
  expect(usefulOfAll).toBeCloseTo((100 * (2000 - 160)) / 2000)
  expect(usefulOfPossible).toBeCloseTo((100 * (2000 - 160)) / (2000 - 100))
})

it('search use counts a part of the slice in which the cut came, and work that is already stale when it is taken up', () => {
  const use = new SearchUse(0)
  use.give(1, 3, 7)
  use.start(0)
  use.cut(3, 9, 5)
  use.addSlices(slices(0, 1, 0, 20))
  expect(use.end(20).usefulOfAll).toBeCloseTo(25)
})

it('search use counts no wasted hashes for a thread that the machine does not schedule', () => {
  const use = new SearchUse(0)
  use.give(1, 3, 7)
  use.give(2, 3, 8)
  use.start(0)
  use.cut(3, 7, 500)
  use.addSlices([...slices(0, 1, 0, 500), ...slices(0, 2, 800, 1000)])
  expect(use.end(1000)).toEqual({ usefulOfAll: 100, usefulOfPossible: 100, lostMs: [] })
})

it('search use counts the hashes that a thread could have computed while it had no work', () => {
  const use = new SearchUse(0)
  use.give(1, 3, 7)
  use.start(0)
  use.addSlices([...slices(0, 1, 0, 900), { thread: 0, sequence: 2, fromMs: 900, toMs: 1000, hashes: null }])
  expect(use.end(1000).usefulOfPossible).toBeCloseTo(90)
})

it('search use throws if nothing was hashed', () => {
  expect(() => new SearchUse(0).end(1000)).toThrow('nothing was hashed')
})

it('search use returns each recorded slice of a thread once, and throws if some are missing', () => {
  const log = new SliceLog(3)
  const thread = new SliceLog(3, log.buffer)
  const [first, second] = [
    { thread: 2, fromMs: 1.5, toMs: 2.5, sequence: 8, hashes: 16_384 },
    { thread: 0, fromMs: 2.5, toMs: 9, sequence: 9, hashes: null },
  ]
  thread.write(first)
  expect(log.take()).toEqual([first])
  thread.write(second)
  expect(log.take()).toEqual([second])
  expect(log.take()).toEqual([])
  for (let i = 0; i < 40_000; i++) thread.write(first)
  expect(() => log.take()).toThrow('slices were not read in time')
})
