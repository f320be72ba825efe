import { describe, expect, it } from 'vitest'
import { enginesFor } from '../../src/compose/search/engines.ts'
import { graphs } from '../../src/ground/chain/graph.ts'
import { firstDifficulty, measureDifficulty, rateOfTrial } from '../../src/mining/tune/first-difficulty.ts'
import type { TunableSearch } from '../../src/mining/tune/own-search.ts'
import { HandEngine } from '../mine/by-hand.ts'
import { settle, VirtualClock } from '../mine/virtual-clock.ts'

describe('first difficulty of an embedded network', () => {
  it.each([
    // 30 s over 20 chains are 1.5 s a block; the limit is one second.
    ['twenty', 30_000, 62_345_678, 62_000_000n],
    ['twenty', 10_000, 62_345_678, 31_000_000n],
    ['twenty', 1_000, 62_345_678, 3_100_000n],
    ['petersen', 5_000, 1_000_000, 500_000n],
    ['singleton', 30_000, 27_000_000_000, 27_000_000_000n],
    ['singleton', 500, 8.4, 4n],
    ['twenty', 1, 10, 1n],
  ] as const)(
    'the first difficulty of %s with a block delay of %i ms, at %d H/s, is right',
    (graph, blockDelayMs, rate, difficulty) => {
      expect(firstDifficulty(rate, { graph: graphs[graph], blockDelayMs })).toBe(difficulty)
    },
  )

  const network = { graph: graphs.twenty, blockDelayMs: 30_000 }
  const measured = (search: TunableSearch, stopped = new AbortController().signal) =>
    measureDifficulty(search, network, { enginesFor: enginesFor(stopped), clock: new VirtualClock(), stopped })

  it('the first difficulty is not measured for an external command, which is not started', async () => {
    const search = { kind: 'external', command: 'sleep 0.3; echo 0000000000000000 1000 #' } as const
    expect(await measured(search)).toBeUndefined()
  })

  it('the first difficulty is not measured if only rigs search, or once it is stopped', async () => {
    const stratum = { host: '127.0.0.1', port: 0, difficulty: null, tls: null, perAddress: 1 }
    const own = { kind: 'own', threads: 0, kernel: 'js', priority: 'low', gpu: null } as const
    const rigs = { ...own, stratum }
    expect(await measured(rigs)).toBeUndefined()
    expect(await measured({ ...own, threads: 1 }, AbortSignal.abort())).toBeUndefined()
  })
})

describe('trial of engines', () => {
  function tried(engines: readonly HandEngine[]) {
    const [clock, stop] = [new VirtualClock(), new AbortController()]
    const rate = rateOfTrial(engines, 286, { clock, stopped: stop.signal })
    return { clock, stop, rate }
  }

  it('a trial returns the total rate after the warm-up, on unsolvable work, and stops all engines', async () => {
    const engines = [new HandEngine(), new HandEngine()]
    const { clock, rate } = tried(engines)
    await settle()
    for (const { newest } of engines) {
      expect(newest.bytes.length).toBe(286)
      expect(newest.target).toBe(0n)
    }
    // Hashes before the end of the warm-up do not count.
    engines[0].hashed = 1_000_000
    await clock.pass(100)
    engines[0].hashed += 600
    engines[1].hashed += 200
    await clock.pass(400)
    expect(await rate).toBe(2000)
    expect(engines.map(({ stopped }) => stopped)).toEqual([true, true])
    expect(clock.pending).toBe(0)
  })

  it('a trial returns null if nothing was hashed in a minute, and without engines', async () => {
    const { clock, rate } = tried([new HandEngine()])
    await clock.pass(60_100)
    expect(await rate).toBeNull()
    expect(await tried([]).rate).toBeNull()
  })

  it('a trial ends at once if it is stopped while an engine starts or is measured', async () => {
    for (const ready of [new Promise<never>(() => undefined), Promise.resolve()]) {
      const engine = new HandEngine(ready)
      const { clock, stop, rate } = tried([engine])
      await settle()
      engine.hashed = 1000
      stop.abort()
      expect(await rate).toBeNull()
      expect(engine.stopped).toBe(true)
      expect(clock.pending).toBe(0)
    }
  })
})
