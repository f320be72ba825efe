/** The tests that every share store must pass. */
import { describe, expect, it } from 'vitest'
import type { RefusedShares, ShareStore } from '../../src/mining/accounts/share-store.ts'
import { listOf, START_MS, shareOf } from './shares.ts'

export interface OpenedStore {
  readonly store: ShareStore
  /** Closes the store and reopens it from its saved data. */
  readonly reopen: () => Promise<ShareStore>
}

/** `open` creates an empty store; the end of the test removes it. */
export function keepsShares(name: string, open: () => Promise<OpenedStore>): void {
  describe(`${name} as a share store`, () => {
    it('the store keeps shares unchanged, ordered by time and id, also after a reopen', async () => {
      const { store, reopen } = await open()
      const block = shareOf(9).id
      const late = shareOf(3, { block, difficulty: 0, refusedAs: 'stale' })
      const shares = [shareOf(1), shareOf(2, { block, worker: '', user: 'a/b c' }), late]
      const sameTime = [shareOf(5, { timeMs: START_MS + 4 }), shareOf(4)]
      await store.append(shares)
      await store.append(sameTime)
      const expected = [...shares, sameTime[1], sameTime[0]]
      expect(await listOf(store.shares())).toEqual(expected)
      const again = await reopen()
      expect(await listOf(again.shares())).toEqual(expected)
      expect(await listOf(again.shares({ newestFirst: true }))).toEqual(expected.toReversed())
    })

    it('the store keeps a share once, however often it is appended, before and after a reopen', async () => {
      const { store, reopen } = await open()
      await store.append([shareOf(1), shareOf(1), shareOf(2)])
      await store.append([shareOf(2), shareOf(3)])
      const again = await reopen()
      await again.append([shareOf(1), shareOf(3), shareOf(4)])
      await again.append([shareOf(2, { timeMs: START_MS + 9 })])
      expect((await listOf(again.shares())).map(({ id }) => id)).toEqual([1, 2, 3, 4].map((n) => shareOf(n).id))
    })

    it('the store orders shares of one time by id, however they were appended', async () => {
      const { store } = await open()
      const sharesOf = (...numbers: readonly number[]) => numbers.map((number) => shareOf(number, { timeMs: START_MS }))
      for (const shares of [sharesOf(1, 5), sharesOf(2), sharesOf(4, 3)]) await store.append(shares)
      await store.append([shareOf(6)])
      const expected = [...sharesOf(1, 2, 3, 4, 5), shareOf(6)]
      expect(await listOf(store.shares())).toEqual(expected)
      expect(await listOf(store.shares({ newestFirst: true }))).toEqual(expected.toReversed())
    })

    it('the store accepts concurrent appends', async () => {
      const { store } = await open()
      const batches = Array.from({ length: 20 }, (_, i) => [shareOf(10 * i), shareOf(10 * i + 1)])
      await Promise.all(batches.map((batch) => store.append(batch)))
      expect(await listOf(store.shares())).toEqual(batches.flat())
    })

    it('the store reads a range including its first time and excluding its end, in both directions', async () => {
      const { store } = await open()
      await store.append([1, 2, 3, 4, 5].map((number) => shareOf(number)))
      const range = { fromMs: START_MS + 2, untilMs: START_MS + 4 }
      const numbers = async (more: object) =>
        (await listOf(store.shares({ ...range, ...more }))).map(({ timeMs }) => timeMs)
      expect(await numbers({})).toEqual([START_MS + 2, START_MS + 3])
      expect(await numbers({ newestFirst: true })).toEqual([START_MS + 3, START_MS + 2])
      expect(await listOf(store.shares({ fromMs: START_MS + 6 }))).toEqual([])
      const fraction = await listOf(store.shares({ fromMs: START_MS + 1.5, untilMs: START_MS + 3.5 }))
      expect(fraction.map(({ timeMs }) => timeMs)).toEqual([START_MS + 2, START_MS + 3])
      for await (const { timeMs } of store.shares()) {
        // Readers may stop before the last share.
        expect(timeMs).toBe(START_MS + 1)
        break
      }
    })

    it('the store sums refusals by worker, reason and minute', async () => {
      const { store, reopen } = await open()
      const minuteMs = Math.floor(START_MS / 60_000) * 60_000
      const counts = (verdict: RefusedShares['verdict'], count: number, more: Partial<RefusedShares> = {}) => {
        return { minuteMs, user: 'k:abc', worker: 'shelf/1', verdict, count, ...more }
      }
      await Promise.all([
        store.refuse([counts('stale', 2), counts('low', 1)]),
        store.refuse([counts('stale', 3), counts('stale', 1, { worker: '' })]),
      ])
      const again = await reopen()
      await again.refuse([counts('stale', 4, { minuteMs: minuteMs + 60_000 }), counts('low', 1), counts('low', 1)])
      const found = await listOf(again.refusals())
      expect(found.at(-1)).toEqual(counts('stale', 4, { minuteMs: minuteMs + 60_000 }))
      expect(new Set(found.slice(0, -1))).toEqual(
        new Set([counts('stale', 5), counts('stale', 1, { worker: '' }), counts('low', 3)]),
      )
      expect(await listOf(again.refusals({ untilMs: minuteMs }))).toEqual([])
      expect(await listOf(again.refusals({ fromMs: minuteMs + 1 }))).toEqual([found.at(-1)])
    })

    it('the store adds nothing for empty appends', async () => {
      const { store } = await open()
      await store.append([])
      await store.refuse([])
      expect(await listOf(store.shares())).toEqual([])
      expect(await listOf(store.refusals())).toEqual([])
    })
  })
}
