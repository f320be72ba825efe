/**
 * Engines change while the miner mines on an embedded network, with real threads, and with a GPU if there is a driver.
 */
import { describe, expect, it } from 'vitest'
import type { Snapshot } from '../../src/mining/mine/snapshot.ts'
import type { OwnSearch } from '../../src/mining/tune/own-search.ts'
import { sensedCard, startMiner } from '../api/running.ts'

const SOON = { interval: 100 }
const own = (parts: Partial<OwnSearch>): OwnSearch => {
  return { kind: 'own', threads: 1, kernel: 'auto', priority: 'low', gpu: null, ...parts }
}

describe('a miner whose setup changes', () => {
  it('a miner whose setup changes adds a GPU to its threads and removes it again, while the threads keep searching', async (context) => {
    const card = await sensedCard()
    if (card === null) return context.skip('there is no GPU driver here, not even a software one')
    const miner = await startMiner({ difficulty: 3_000_000n })
    const snapshot = async () => (await miner.json('/api/summary')) as Snapshot
    const counts = async () => new Map((await snapshot()).devices.map(({ device, hashes }) => [device, hashes]))
    await expect.poll(async () => (await counts()).get('thread0'), SOON).toBeGreaterThan(0)
    await miner.change({ search: own({ gpu: card.setup.gpu ?? null }) })
    await expect.poll(async () => (await counts()).get('gpu0'), SOON).toBeGreaterThan(0)
    const both = await counts()
    await miner.change({ search: own({ gpu: null }) })
    const { devices, hardware, hashes } = await snapshot()
    expect(devices.map(({ device }) => device)).toEqual(['thread0'])
    // The thread kept running; the GPU's earlier hashes still count in the total.
    expect(devices[0].hashes).toBeGreaterThanOrEqual(both.get('thread0') ?? 0)
    await expect.poll(async () => (await counts()).get('thread0'), SOON).toBeGreaterThan(devices[0].hashes)
    expect(hashes).toBeGreaterThanOrEqual(hardware[0].hashes + (both.get('gpu0') ?? 0))
    await miner.change({ search: own({ gpu: card.setup.gpu ?? null }) })
    await expect.poll(async () => (await counts()).get('gpu0'), SOON).toBeGreaterThan(both.get('gpu0') ?? 0)
    expect(miner.events.filter(({ type }) => type === 'hardwareError')).toEqual([])
    expect((await snapshot()).solutions).toMatchObject({ rejected: 0, lost: 0 })
  })

  it('a miner whose setup changes switches to an external program, and back to threads', async () => {
    const miner = await startMiner({ difficulty: 1_000n })
    const snapshot = async () => (await miner.json('/api/summary')) as Snapshot
    const accepted = async () => (await snapshot()).solutions.accepted
    await expect.poll(accepted, SOON).toBeGreaterThan(0)
    const command = `${process.execPath} ${new URL('../../dist/src/main.js', import.meta.url).pathname} solve`
    await miner.change({ search: { kind: 'external', command } })
    expect((await snapshot()).devices.map(({ engine }) => engine)).toEqual(['external'])
    const before = await accepted()
    await expect.poll(accepted, SOON).toBeGreaterThan(before + 1)
    await miner.change({ search: own({ threads: 2 }) })
    expect((await snapshot()).devices.map(({ device }) => device)).toEqual(['thread0', 'thread1'])
    const after = await accepted()
    await expect.poll(accepted, SOON).toBeGreaterThan(after + 1)
  })

  it('a miner whose setup changes stays as it is if the new setup is impossible, and applies changes one after the other', async () => {
    const miner = await startMiner({ difficulty: 3_000_000n })
    const snapshot = async () => (await miner.json('/api/summary')) as Snapshot
    const wrong = [
      { search: own({ threads: 0 }) },
      { search: own({ threads: 2 }), chains: [20] },
      { search: own({ threads: 2, kernel: process.arch === 'arm64' ? 'native-avx2' : 'native-neon' }) },
    ] as const
    const results = await Promise.allSettled([
      ...wrong.map((setup) => miner.change(setup)),
      ...[3, 2].map((threads) => miner.change({ search: own({ threads }), chains: [0, 1] })),
    ])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'fulfilled', 'fulfilled'])
    const { devices, chains = [] } = await snapshot()
    expect(devices.map(({ device }) => device)).toEqual(['thread0', 'thread1'])
    expect(chains.filter(({ isWanted }) => isWanted).map(({ chain }) => chain)).toEqual([0, 1])
  })

  it('a miner whose setup changes mines other chains for several nodes too', async () => {
    const miner = await startMiner({ difficulty: 1_000_000n, hasTwoNodes: true })
    const snapshot = async () => (await miner.json('/api/summary')) as Snapshot
    await expect.poll(async () => (await snapshot()).solutions.accepted, SOON).toBeGreaterThan(0)
    await miner.change({ search: own({}), chains: [4, 9] })
    await expect.poll(async () => [4, 9, undefined].includes((await snapshot()).work?.chain), SOON).toBe(true)
    const works = miner.events.length
    await expect.poll(() => miner.events.slice(works).some(({ type }) => type === 'idle'), SOON).toBe(true)
    const chains = miner.events.slice(works).flatMap((event) => (event.type === 'work' ? [event.chain] : []))
    expect(chains.filter((chain) => chain !== 4 && chain !== 9)).toEqual([])
  })
})
