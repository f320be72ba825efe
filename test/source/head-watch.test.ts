import { describe, expect, it } from 'vitest'
import { NewcutError } from '../../src/ground/base/errors.ts'
import { decodeHeader, encodeHeader } from '../../src/ground/chain/header.ts'
import { development } from '../../src/ground/chain/network-data.ts'
import { NodeCalls } from '../../src/mining/source/node/calls.ts'
import type { ChainView, ExpectedRewards } from '../../src/mining/source/node/choice.ts'
import { CutFeed } from '../../src/mining/source/node/cut-feed.ts'
import { HeadWatch } from '../../src/mining/source/node/head-watch.ts'
import type { CutHeads } from '../../src/mining/source/node/mining-node.ts'
import { settle, VirtualClock } from '../mine/virtual-clock.ts'
import { madeWork } from './simulated-node.ts'

const head = (chain: number) => {
  return decodeHeader(encodeHeader({ ...madeWork(chain, 5).fields, hash: new Uint8Array(32).fill(chain) }))
}
/** All chains are as high as their neighbours. */
const heads: ChainView = {
  network: development,
  cut: new Map(Array.from({ length: 20 }, (_, chain) => [chain, head(chain)])),
  headers: new Map(),
}

const cut: CutHeads = new Map([[0, { height: 5, hash: 'head' }]])

interface Deferred<T> {
  readonly resolve: (seen: T) => void
  readonly reject: (error: unknown) => void
}

/** Pending requests and their answers. An aborted signal rejects its request. */
class Questions<T> {
  readonly asked: Deferred<T>[] = []
  readonly signals: AbortSignal[] = []

  ask(signal: AbortSignal): Promise<T> {
    this.signals.push(signal)
    return new Promise((resolve, reject) => {
      this.asked.push({ resolve, reject })
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  }
}

/** A watch on the cut feed of a node, with the requests of both. */
function watched() {
  const clock = new VirtualClock()
  const [cuts, looks] = [new Questions<CutHeads>(), new Questions<ChainView>()]
  const seen: ExpectedRewards[] = []
  const back: boolean[] = []
  const faults: unknown[] = []
  const onFault = (error: unknown) => void faults.push(error)
  const mood = { isHurried: false }
  const feed = new CutFeed({
    node: { cut: (signal) => cuts.ask(signal) },
    calls: new NodeCalls(clock),
    onBack: (wasAway) => back.push(wasAway),
    isHurried: () => mood.isHurried,
    onFault,
  })
  const watch = new HeadWatch({
    feed,
    view: (_, signal) => looks.ask(signal),
    chains: [0, 1],
    clock,
    onRewards: (chances) => seen.push(chances),
    onFault,
  })
  feed.start()
  /** Answers the newest request for the cut. */
  const answer = async () => {
    cuts.asked.at(-1)?.resolve(cut)
    await settle()
  }
  return { clock, cuts, looks, seen, back, faults, feed, watch, mood, answer }
}

describe('feed of the cut', () => {
  it('the cut feed queries the cut every second without news, and twice a second on demand', async () => {
    const { clock, cuts, mood, answer } = watched()
    for (let beat = 1; beat <= 3; beat++) {
      await clock.pass(990)
      expect(cuts.asked).toHaveLength(beat - 1)
      await clock.pass(10)
      expect(cuts.asked).toHaveLength(beat)
      mood.isHurried = beat === 3
      await answer()
    }
    await clock.pass(500)
    expect(cuts.asked).toHaveLength(4)
  })

  it('the cut feed queries the cut after news, one request at a time and at least 200 ms apart', async () => {
    const { clock, cuts, watch, answer } = watched()
    watch.lookSoon()
    await clock.pass(50)
    watch.lookSoon()
    watch.lookSoon()
    await clock.pass(300)
    expect(cuts.asked, 'the first is under way').toHaveLength(1)
    await answer()
    await clock.pass(1)
    expect(cuts.asked).toHaveLength(2)
    await answer()
    watch.lookSoon()
    await clock.pass(190)
    expect(cuts.asked).toHaveLength(2)
    await clock.pass(10)
    expect(cuts.asked).toHaveLength(3)
  })

  it('the cut feed keeps asking while the node is away, and reports its return', async () => {
    const { clock, cuts, seen, back, faults, answer } = watched()
    await clock.pass(1_000)
    cuts.asked[0].reject(new NewcutError('NODE_UNREACHABLE', 'connection refused'))
    await settle()
    expect(seen, 'nothing is known').toEqual([new Map()])
    await clock.pass(500)
    expect(cuts.asked).toHaveLength(2)
    await clock.pass(4_990)
    expect(cuts.asked.length, 'the request is hedged').toBe(11)
    expect(seen.length).toBe(1)
    await clock.pass(10)
    expect(seen, 'no answer within 5 s').toHaveLength(2)
    await clock.pass(500)
    await answer()
    expect(back).toEqual([true])
    expect(faults).toEqual([])
  })

  it('the cut feed reports that the node may have been away when an answer takes a second', async () => {
    const { clock, cuts, back, answer } = watched()
    await clock.pass(1_000)
    await clock.pass(400)
    await answer()
    await clock.pass(1_000)
    await clock.pass(1_000)
    cuts.asked[1].resolve(cut)
    await settle()
    expect(back).toEqual([false])
  })
})

describe('head watch', () => {
  it('the head watch looks at each cut', async () => {
    const { clock, looks, seen, watch, answer } = watched()
    watch.lookSoon()
    await clock.pass(0)
    await answer()
    expect(looks.asked).toHaveLength(1)
    looks.asked[0].resolve(heads)
    await settle()
    expect(seen.map((chances) => [...chances.keys()])).toEqual([[0, 1]])
    await clock.pass(1_000)
    await answer()
    expect(looks.asked).toHaveLength(2)
  })

  it('the head watch makes one request at a time, and the next for the newest cut', async () => {
    const { clock, looks, answer } = watched()
    for (let beat = 0; beat < 3; beat++) {
      await clock.pass(1_000)
      await answer()
    }
    expect(looks.asked, 'the first is under way').toHaveLength(1)
    looks.asked[0].resolve(heads)
    await settle()
    expect(looks.asked).toHaveLength(2)
    looks.asked[1].resolve(heads)
    await settle()
    expect(looks.asked).toHaveLength(2)
  })

  it('the head watch knows nothing while headers are missing, and retries', async () => {
    const { clock, looks, seen, faults, answer } = watched()
    await clock.pass(1_000)
    await answer()
    looks.asked[0].reject(new NewcutError('NODE_UNREACHABLE', 'connection refused'))
    await clock.pass(1_000)
    await answer()
    expect(seen).toEqual([new Map()])
    expect(looks.asked).toHaveLength(2)
    await clock.pass(5_000)
    expect(looks.signals[1].aborted, 'no answer within 5 s').toBe(true)
    expect(seen.every((chances) => chances.size === 0)).toBe(true)
    expect(faults).toEqual([])
  })

  it('the head watch reports bugs', async () => {
    const { clock, cuts, looks, faults, answer } = watched()
    const fault = new TypeError('a fault')
    await clock.pass(1_000)
    await answer()
    looks.asked[0].reject(fault)
    await clock.pass(1_000)
    cuts.asked[1].reject(fault)
    await settle()
    expect(faults).toEqual([fault, fault])
  })

  it('the head watch reports nothing after it was stopped, nor does the cut feed', async () => {
    const { clock, cuts, looks, seen, faults, feed, watch, answer } = watched()
    await clock.pass(1_000)
    await answer()
    watch.stop()
    expect(looks.signals[0].aborted).toBe(true)
    looks.asked[0].resolve(heads)
    watch.lookSoon()
    await clock.pass(1_000)
    await answer()
    feed.stop()
    await clock.pass(10_000)
    expect({ cuts: cuts.asked.length, looks: looks.asked.length, seen, faults, timers: clock.pending }).toEqual({
      cuts: 2,
      looks: 1,
      seen: [],
      faults: [],
      timers: 0,
    })
  })
})
