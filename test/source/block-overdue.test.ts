/** Solutions that a node acknowledges and silently drops: the miner searches that chain again within 5 s. */
import { afterEach, describe, expect, it } from 'vitest'
import { NewcutError } from '../../src/ground/base/errors.ts'
import { NodeSource } from '../../src/mining/source/node/node-source.ts'
import { type Event, initialState, type State } from '../../src/mining/source/node/state.ts'
import { step } from '../../src/mining/source/node/step.ts'
import type { Job } from '../../src/mining/source/source.ts'
import { settle, VirtualClock } from '../mine/virtual-clock.ts'
import { followed, solutionOf } from './job.ts'
import { ScriptedNode } from './scripted-node.ts'
import { hashOf, madeWork, type NewsOf } from './simulated-node.ts'

const cutAt = (head: number) => new Map([[0, { height: head, hash: hashOf(head) }]])

describe('state machine of a source', () => {
  const work = madeWork(0, 5)
  const { fields } = work
  const again = madeWork(0, 5, 9n)
  const submitted = { type: 'submitted', fields } as const
  const acknowledged = { type: 'acknowledged', fields } as const
  const overdue = { type: 'blockOverdue' } as const
  const begun = [
    [0, { type: 'started' }],
    [1, { type: 'answered', request: 1, work }],
  ] as const

  /** The state after events at their times, the effects of the last event, and the delays that the shell got. */
  function played(chains: readonly number[], ...events: readonly (readonly [number, NewsOf<Event>])[]) {
    let state: State = initialState(chains)
    let effects: ReturnType<typeof step>[1] = []
    for (const [atMs, event] of events) [state, effects] = step(state, { ...event, atMs } as Event)
    const kinds = effects.map(({ type }) => type)
    const delays = effects.flatMap((effect) => (effect.type === 'blockOverdueLater' ? effect.delayMs : []))
    return { state, kinds, delays }
  }

  it('a source waits 4 s for the block of a solution that was acknowledged', () => {
    expect(played([0], ...begun, [10, submitted]).delays).toEqual([])
    expect(played([0], ...begun, [10, submitted], [200, acknowledged]).delays).toEqual([4_000])
  })

  it('a source searches the parent again after these 4 s: fresh work on it is useful', () => {
    const before = [
      ...begun,
      [10, submitted],
      [200, acknowledged],
      [210, { type: 'answered', request: 2, work: again }],
    ] as const
    expect(played([0], ...before).state.current.kind).toBe('solved')
    const { state, kinds } = played([0], ...before, [4_200, overdue])
    expect(kinds).toEqual(['unpause', 'ask'])
    expect(state.awaited).toEqual([])
    const later = played([0], ...before, [4_200, overdue], [4_210, { type: 'answered', request: 3, work: again }])
    expect(later.state.current).toMatchObject({ kind: 'searching', job: { work: again } })
  })

  it('a source does not search the parent when asked too early, or if a cut has shown a block there', () => {
    const before = [...begun, [10, submitted], [200, acknowledged]] as const
    const early = played([0], ...before, [4_199, overdue])
    expect(early.kinds).toEqual(['blockOverdueLater'])
    expect(early.delays).toEqual([1])
    const seen = { type: 'cutSeen', cut: cutAt(6) } as const
    const parent = { type: 'cutSeen', cut: cutAt(5) } as const
    for (const [cut, isAsked] of [
      [seen, false],
      [parent, true],
    ] as const) {
      const { state } = played([0], ...before, [1_000, cut], [4_200, overdue])
      expect(state.solved[0].isOverdue).toBe(isAsked)
    }
    const confirmed = { type: 'confirmed', fields } as const
    expect(played([0], ...before, [1_000, confirmed], [4_200, overdue]).state.solved[0].isOverdue).toBe(false)
  })

  it('a source does not search the parent before the node has acknowledged the solution, however long that takes', () => {
    const { state } = played([0], ...begun, [10, submitted], [60_000, overdue])
    expect(state.solved[0].isOverdue).toBe(false)
  })

  it('a source waits for each of several blocks', () => {
    const other = madeWork(1, 8)
    const next = { type: 'answered', request: 2, work: other } as const
    const both = [
      ...begun,
      [5, next],
      [10, submitted],
      [200, acknowledged],
      [300, { type: 'submitted', fields: other.fields }],
    ] as const
    const second = { type: 'acknowledged', fields: other.fields } as const
    expect(played([0, 1], ...both, [1_000, second]).delays).toEqual([3_200])
    const first = played([0, 1], ...both, [1_000, second], [4_200, overdue])
    expect(first.delays).toEqual([800])
    expect(first.state.awaited).toEqual([1])
    expect(played([0, 1], ...both, [1_000, second], [4_200, overdue], [5_000, overdue]).state.awaited).toEqual([])
  })

  it('a source ends the search when the block comes after all, and does not search its parent again', () => {
    const before = [
      ...begun,
      [10, submitted],
      [200, acknowledged],
      [4_200, overdue],
      [4_210, { type: 'answered', request: 2, work: again }],
    ] as const
    expect(played([0], ...before).state.current.kind).toBe('searching')
    const confirmed = [5_000, { type: 'confirmed', fields }] as const
    const { state, kinds } = played([0], ...before, confirmed)
    expect(kinds).toEqual(['idle', 'ask'])
    const late = { type: 'answered', request: state.asking?.request ?? 0, work: madeWork(0, 5, 10n) } as const
    const once = played([0], ...before, confirmed, [5_010, late])
    const [request] = [once.state.asking?.request ?? 0]
    const twice = played([0], ...before, confirmed, [5_010, late], [5_020, { ...late, request }])
    for (const after of [once, twice]) expect(after.state.current.kind).toBe('lost')
  })
})

describe('node that drops solutions', () => {
  const stops: AbortController[] = []
  afterEach(() => {
    for (const stop of stops.splice(0)) stop.abort()
  })

  /** A source with one chain: the parent has height 5, and the first job is solved. */
  async function dropping() {
    const clock = new VirtualClock()
    const node = new ScriptedNode(1)
    node.cut = async () => cutAt(5)
    node.place = async () => ({ kind: 'awaited' })
    const source = new NodeSource({ node, clock, random: () => 0.5 })
    const stop = new AbortController()
    stops.push(stop)
    const jobs: (Job | null)[] = []
    const events = { onTrouble: () => undefined, onRecovered: () => undefined }
    void (async () => {
      for await (const job of source.jobs(stop.signal, events)) jobs.push(job)
    })()
    await settle()
    node.answer(madeWork(0, 5))
    await settle()
    const solution = solutionOf(jobs[0])
    expect(await source.submit(solution)).toEqual({ step: 'acknowledged' })
    await settle()
    const steps = followed(source.follow(solution, stop.signal))
    /** Lets time pass; the node answers every request with work on the same parent. */
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 100) {
        await clock.pass(100)
        while (node.asked.length > 0) {
          node.answer(madeWork(0, 5, BigInt(Math.round(clock.monotonicMs())) + 2n))
          await settle()
        }
      }
    }
    return { clock, node, source, stop, jobs, solution, steps, pass }
  }

  it('a dropped solution costs its chain at most 5 s, and the node does not get it again', async () => {
    const { node, jobs, pass } = await dropping()
    expect(jobs.at(-1)).toBeNull()
    await pass(3_900)
    expect(jobs.at(-1)).toBeNull()
    await pass(1_100)
    expect(jobs.at(-1)?.work.fields).toMatchObject({ chainId: 0, height: 6n })
    expect(jobs.at(-1)?.id).not.toBe(jobs[0]?.id)
    expect(node.submitted).toHaveLength(1)
  })

  it('a dropped solution costs at most 5 s although the cut is unavailable', async () => {
    const { node, jobs, pass } = await dropping()
    node.cut = async () => {
      throw new NewcutError('NODE_UNREACHABLE', 'connection refused')
    }
    await pass(5_000)
    expect(jobs.at(-1)).not.toBeNull()
  })

  it('the source follows a dropped solution further: when the block comes after all, the searched work is over', async () => {
    const { node, jobs, steps, pass } = await dropping()
    await pass(6_000)
    const again = jobs.at(-1)
    expect(again).not.toBeNull()
    node.place = async () => ({ kind: 'on-chain', depth: 1 })
    node.cut = async () => cutAt(6)
    await pass(1_200)
    expect(await steps).toEqual([{ step: 'confirmed', depth: 1 }])
    // The node keeps giving work on the old parent, and the miner searches none of it.
    expect(jobs.at(-1)).toBeNull()
    expect(node.submitted).toHaveLength(1)
  })

  it('a node that drops the next solution too costs at most 5 s for each', async () => {
    const { node, source, jobs, pass } = await dropping()
    await pass(5_000)
    expect(await source.submit(solutionOf(jobs.at(-1)))).toEqual({ step: 'acknowledged' })
    const count = jobs.length
    await pass(5_000)
    expect(jobs.length).toBeGreaterThan(count)
    expect(jobs.at(-1)).not.toBeNull()
    expect(node.submitted).toHaveLength(2)
  })
})
