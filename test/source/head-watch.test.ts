import { describe, expect, it } from 'vitest'
import { NewcutError } from '../../src/core/errors.ts'
import { decodeHeader, encodeHeader } from '../../src/core/header.ts'
import { development } from '../../src/core/network.ts'
import type { ChainView, Chances } from '../../src/source/node/choice.ts'
import { HeadWatch } from '../../src/source/node/head-watch.ts'
import { settle, VirtualClock } from '../mine/virtual-clock.ts'
import { madeWork } from './simulated-node.ts'

const head = (chain: number) => {
  return decodeHeader(encodeHeader({ ...madeWork(chain, 5).fields, hash: new Uint8Array(32).fill(chain) }))
}
/** All chains are as high as their neighbours. */
const heads: ChainView = {
  network: development,
  askedMs: 10,
  cut: new Map(Array.from({ length: 20 }, (_, chain) => [chain, head(chain)])),
  headers: new Map(),
}

/** A watch, and the looks that it waits for. */
function watched() {
  const clock = new VirtualClock()
  const looks: { readonly resolve: (seen: ChainView) => void; readonly reject: (error: unknown) => void }[] = []
  const signals: AbortSignal[] = []
  const seen: Chances[] = []
  const faults: unknown[] = []
  const watch = new HeadWatch({
    view: (signal) => {
      signals.push(signal)
      return new Promise((resolve, reject) => {
        looks.push({ resolve, reject })
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    },
    chains: [0, 1],
    clock,
    onChances: (chances) => seen.push(chances),
    onFault: (error) => faults.push(error),
  })
  return { clock, looks, signals, seen, faults, watch }
}

describe('the watch over heads', () => {
  it('looks at the start, and every 2 s without news', async () => {
    const { clock, looks, seen, watch } = watched()
    watch.news()
    await clock.pass(0)
    expect(looks).toHaveLength(1)
    looks[0].resolve(heads)
    await clock.pass(1990)
    expect(seen.map((chances) => [...chances.keys()])).toEqual([[0, 1]])
    expect(looks).toHaveLength(1)
    await clock.pass(20)
    expect(looks).toHaveLength(2)
  })

  it('looks after news, one look at a time and none within 200 ms of another', async () => {
    const { clock, looks, watch } = watched()
    watch.news()
    await clock.pass(50)
    watch.news()
    watch.news()
    await clock.pass(500)
    expect(looks, 'the first is under way').toHaveLength(1)
    looks[0].resolve(heads)
    await clock.pass(1)
    expect(looks).toHaveLength(2)
    looks[1].resolve(heads)
    await settle()
    watch.news()
    await clock.pass(190)
    expect(looks).toHaveLength(2)
    await clock.pass(10)
    expect(looks).toHaveLength(3)
  })

  it('knows nothing while the node does not answer, and looks again', async () => {
    const { clock, looks, signals, seen, faults, watch } = watched()
    watch.news()
    await clock.pass(0)
    looks[0].reject(new NewcutError('NODE_UNREACHABLE', 'connection refused'))
    await clock.pass(2000)
    expect(seen).toEqual([new Map()])
    expect(looks).toHaveLength(2)
    await clock.pass(5000)
    expect(signals[1].aborted, 'no answer within 5 s').toBe(true)
    expect(seen).toHaveLength(2)
    await clock.pass(0)
    expect(looks).toHaveLength(3)
    expect(faults).toEqual([])
  })

  it('tells of faults of ours', async () => {
    const { clock, looks, faults, watch } = watched()
    watch.news()
    await clock.pass(0)
    const fault = new TypeError('a fault')
    looks[0].reject(fault)
    await settle()
    expect(faults).toEqual([fault])
  })

  it('says nothing after it was stopped', async () => {
    const { clock, looks, signals, seen, faults, watch } = watched()
    watch.news()
    await clock.pass(0)
    watch.stop()
    expect(signals[0].aborted).toBe(true)
    looks[0].resolve(heads)
    watch.news()
    await clock.pass(10_000)
    expect({ looks: looks.length, seen, faults, timers: clock.pending }).toEqual({
      looks: 1,
      seen: [],
      faults: [],
      timers: 0,
    })
  })
})
