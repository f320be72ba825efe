import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeBase64Url } from '../../src/ground/base/bytes.ts'
import { encodeWork } from '../../src/ground/chain/header.ts'
import { type Work, workFromBytes } from '../../src/ground/chain/work.ts'
import { type Event, initialState, isSameJob, isWorkOwed, type State } from '../../src/mining/source/node/state.ts'
import { step } from '../../src/mining/source/node/step.ts'
import { hashOf, madeWork, type NewsOf, SimulatedNode } from './simulated-node.ts'

const small = fc.nat(1000)
/** Moves of node, network and engines, weighted by frequency. */
const move = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('read' as const), index: small, random: small }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('answer' as const), index: small }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const), index: small }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('advance' as const), chain: small }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('hear' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pauseOver' as const), current: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('solve' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('verdict' as const), isTaken: fc.boolean(), moves: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('openStream' as const), chain: small }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('closeStream' as const), chain: small }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('refreshDue' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('askForCut' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('seeCut' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('overdue' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('viewed' as const), chains: fc.array(small, { maxLength: 6 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('choose' as const),
      chains: fc.array(small, { minLength: 1, maxLength: 6 }),
    }),
  },
)
type Move = typeof move extends fc.Arbitrary<infer M> ? M : never

function play(node: SimulatedNode, each: Move): void {
  switch (each.kind) {
    case 'read':
      node.read(each.index, each.random)
      return
    case 'answer':
      node.answer(each.index)
      return
    case 'fail':
      node.fail(each.index)
      return
    case 'advance':
      node.advance(each.chain)
      return
    case 'hear':
      node.hear()
      return
    case 'pauseOver':
      node.pauseOver(each.current ? 'current' : 'standby')
      return
    case 'solve':
      node.solve()
      return
    case 'verdict':
      node.verdict(each.isTaken, each.moves)
      return
    case 'openStream':
      node.openStream(each.chain % node.heads.length)
      return
    case 'closeStream':
      node.closeStream(each.chain % node.heads.length)
      return
    case 'askForCut':
      node.askForCut()
      return
    case 'seeCut':
      node.seeCut()
      return
    case 'overdue':
      node.overdue()
      return
    case 'viewed':
      node.look(each.chains)
      return
    case 'choose':
      node.choose(each.chains)
      return
    case 'refreshDue':
      if (node.delivered !== null) node.tell({ type: 'refreshDue' })
      return
  }
}

describe.each([1, 2, 3, 20])('work of %i chains', (chains) => {
  it(`a source of work of ${chains} chains keeps its invariants at every step, and ends with the true work`, () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 80 }), small, (moves, random) => {
        const node = new SimulatedNode(chains)
        for (const each of moves) play(node, each)
        node.settle(random)
        const { current, standby } = node.state
        if (current.kind !== 'searching') throw new Error(`it ended ${current.kind}`)
        const { chainId, height } = current.job.work.fields
        expect(Number(height), 'height of the job').toBe(node.heads[chainId] + 1)
        expect(standby.kind).toBe(node.state.chains.length === 1 ? 'none' : 'ready')
        if (standby.kind === 'ready') {
          const { fields } = standby.work
          expect(Number(fields.height), 'height of the standby').toBe(node.heads[fields.chainId] + 1)
        }
      }),
      { numRuns: 400 },
    )
  })
})

/** The state after these events, and the effects of the last event. */
function played(chains: readonly number[], ...events: NewsOf<Event>[]): { state: State; kinds: string[] } {
  let state = initialState(chains)
  let kinds: string[] = []
  for (const [index, event] of events.entries()) {
    const [next, effects] = step(state, { ...event, atMs: index } as Event)
    state = next
    kinds = effects.map((effect) => (effect.type === 'ask' ? `ask ${effect.purpose}` : effect.type))
  }
  return { state, kinds }
}

/** The same work beside other blocks of the adjacent chains. */
function besideOthers({ fields }: Work): Work {
  const adjacents = new Map([...fields.adjacents.keys()].map((chain) => [chain, new Uint8Array(32).fill(0xee)]))
  return workFromBytes(encodeWork({ ...fields, adjacents }))
}

const start = { type: 'started' } as const
const first = { type: 'answered', request: 1, work: madeWork(0, 5) } as const
const standby = { type: 'answered', request: 2, work: madeWork(1, 8) } as const

describe('state machine of a source', () => {
  it('the source asks for standby work as soon as it has a job', () => {
    const { state, kinds } = played([0, 1], start, first)
    expect(state.current.kind).toBe('searching')
    expect(state.standby.kind).toBe('asking')
    expect(kinds).toEqual(['deliver', 'follow', 'refreshLater', 'ask standby'])
  })

  it('the source switches to the standby at once when the chain of the job advances', () => {
    const { state, kinds } = played([0, 1], start, first, standby, { type: 'newCut', chain: 0 })
    expect(state.current).toMatchObject({ kind: 'searching', job: { work: standby.work } })
    expect(kinds[0]).toBe('deliver')
  })

  it('the source idles when a job is lost without a standby', () => {
    const { state, kinds } = played([0, 1], start, first, { type: 'newCut', chain: 0 })
    expect(state.current.kind).toBe('lost')
    expect(kinds).toEqual(['idle', 'ask current'])
  })

  it('the source does not resume a lost job that standby work brings, requested before the news', () => {
    const lost = [start, first, standby, { type: 'newCut', chain: 0 }, { type: 'newCut', chain: 1 }] as const
    const late = { type: 'answered', request: 3, work: standby.work } as const
    const { state } = played([0, 1], ...lost, late)
    expect(state.current.kind).toBe('lost')
    expect(state.asking).not.toBeNull()
    expect(state.standby.kind).toBe('wanted')
  })

  it('the source resumes a lost job, and checks it, when the node keeps sending news and gives nothing else', () => {
    let events: readonly NewsOf<Event>[] = [start, first, { type: 'newCut', chain: 0 }]
    for (let answers = 0; answers < 4; answers++) {
      const { state } = played([0, 1], ...events)
      expect(state.current.kind, `${answers}`).toBe('lost')
      const request = state.asking?.request ?? 0
      // Each answer may predate the news that arrived meanwhile.
      const work = madeWork(0, 5, BigInt(request))
      events = [...events, { type: 'newCut', chain: 0 }, { type: 'answered', request, work }]
    }
    const { state, kinds } = played([0, 1], ...events)
    expect(state.current.kind).toBe('searching')
    expect(kinds).toContain('ask current')
  })

  it('the source checks the job when standby work belongs to its chain, on top of another parent', () => {
    const newer = { type: 'answered', request: 2, work: madeWork(0, 6) } as const
    expect(played([0, 1], start, first, newer).kinds).toEqual(['pause', 'ask current'])
    const same = { type: 'answered', request: 2, work: madeWork(0, 5, 9n) } as const
    expect(played([0, 1], start, first, same).kinds).toEqual(['pause'])
  })

  it('the source idles while a solution of the only chain is pending', () => {
    const { state, kinds } = played([0], start, first, { type: 'submitted', fields: first.work.fields })
    expect(state.current.kind).toBe('solved')
    expect(kinds).toEqual(['idle'])
  })

  it('the source does not resume a solved parent that the node gives out once more, and retries after a pause', () => {
    const submitted = { type: 'submitted', fields: first.work.fields } as const
    const acknowledged = { type: 'acknowledged', fields: first.work.fields } as const
    const replay = { type: 'answered', request: 2, work: madeWork(0, 5, 9n) } as const
    const { state, kinds } = played([0], start, first, submitted, acknowledged, replay)
    expect(state.current.kind).toBe('solved')
    expect(kinds).toEqual(['pause'])
    const next = { type: 'answered', request: 3, work: madeWork(0, 6) } as const
    const later = played(
      [0],
      start,
      first,
      submitted,
      acknowledged,
      replay,
      { type: 'paused', purpose: 'current' },
      next,
    )
    expect(later.state.current).toMatchObject({ kind: 'searching', job: { work: next.work } })
  })

  it('the source resumes a solved parent beside other adjacents: a reorganised neighbour means that our block is not taken', () => {
    const submitted = { type: 'submitted', fields: first.work.fields } as const
    const acknowledged = { type: 'acknowledged', fields: first.work.fields } as const
    const other = { type: 'answered', request: 2, work: besideOthers(madeWork(0, 5)) } as const
    const { state } = played([0], start, first, submitted, acknowledged, other)
    expect(state.current).toMatchObject({ kind: 'searching', job: { work: other.work } })
  })

  it('the source continues its job when a late solution of the same parent with other adjacents is submitted', () => {
    const { fields } = besideOthers(madeWork(0, 5))
    const { state, kinds } = played([0], start, first, { type: 'submitted', fields })
    expect(state.current.kind).toBe('searching')
    expect(kinds).toEqual([])
  })

  it('the source checks its job when a cut shows a reorganised adjacent chain, and not when that has only advanced', () => {
    const { parent } = first.work.fields
    const cutWith = (height: number, hash: string) => {
      const heads = { 0: { height: 5, hash: encodeBase64Url(parent) }, 1: { height, hash } }
      return {
        type: 'cutSeen',
        cut: new Map(Object.entries(heads).map(([chain, head]) => [Number(chain), head])),
      } as const
    }
    expect(played([0], start, first, cutWith(5, encodeBase64Url(parent))).kinds).toEqual([])
    expect(played([0], start, first, cutWith(6, hashOf(77))).kinds).toEqual([])
    expect(played([0], start, first, cutWith(5, hashOf(77))).kinds).toEqual(['ask current'])
  })

  it('the source retries standby work after a pause, and keeps the old one meanwhile', () => {
    const reopened = { type: 'streamOpened', chain: 1 } as const
    const failed = { type: 'failed', request: 3, isFinal: false } as const
    const { state, kinds } = played([0, 1], start, first, standby, reopened, failed)
    expect(state.standby).toEqual({ kind: 'ready', work: standby.work, isDue: true })
    expect(kinds).toEqual(['pause'])
    const later = played([0, 1], start, first, standby, reopened, failed, { type: 'paused', purpose: 'standby' })
    expect(later.kinds).toEqual(['ask standby'])
  })

  it('the source resumes a solved parent once two cuts have shown that its chain went back below our block', () => {
    const { fields } = first.work
    const submitted = { type: 'submitted', fields } as const
    const acknowledged = { type: 'acknowledged', fields } as const
    const confirmed = { type: 'confirmed', fields } as const
    const paused = { type: 'paused', purpose: 'current' } as const
    const back = (request: number) => ({ type: 'answered', request, work: madeWork(0, 5, 9n) }) as const
    const head = (height: number, hash: Uint8Array) => {
      return { type: 'cutSeen', cut: new Map([[0, { height, hash: encodeBase64Url(hash) }]]) } as const
    }
    const behind = head(4, fields.parent)
    const ours = head(5, fields.payloadHash)
    const solved = [start, first, submitted, acknowledged] as const
    const kindAfter = (...events: readonly Parameters<typeof played>[1][]) => {
      return played([0], ...solved, ...events).state.current.kind
    }
    expect(kindAfter(confirmed, back(2), paused, back(3)), 'the same work once more').toBe('solved')
    expect(kindAfter(behind, behind, back(2)), 'its block was not in its chain yet').toBe('solved')
    expect(kindAfter(confirmed, behind, back(2)), 'an old cut').toBe('solved')
    expect(kindAfter(confirmed, behind, ours, behind, back(2)), 'an old cut, twice').toBe('solved')
    const { state } = played([0], ...solved, confirmed, behind, behind, back(2))
    expect(state.current).toMatchObject({ kind: 'searching', job: { work: back(2).work } })
    expect(state.solved).toEqual([])
  })

  it('the source requests a solved chain again once that chain has advanced', () => {
    const asksAfter = (...events: NewsOf<Event>[]) => {
      const { state } = played(
        [0, 1, 2],
        start,
        first,
        standby,
        { type: 'submitted', fields: first.work.fields },
        ...events,
      )
      return state.awaited
    }
    expect(asksAfter()).toEqual([0])
    expect(asksAfter({ type: 'newCut', chain: 0 })).toEqual([])
    expect(asksAfter({ type: 'confirmed', fields: first.work.fields })).toEqual([])
    expect(asksAfter({ type: 'reopened', fields: first.work.fields })).toEqual([])
  })

  it('the source asks at once when news of the awaited chain ends a pause, however long that was', () => {
    const submitted = { type: 'submitted', fields: first.work.fields } as const
    const replays = [2, 3, 4, 5].flatMap((request): NewsOf<Event>[] => [
      { type: 'answered', request, work: madeWork(0, 5, BigInt(request)) },
      { type: 'paused', purpose: 'current' },
    ])
    const acknowledged = { type: 'acknowledged', fields: first.work.fields } as const
    const waiting = [start, first, submitted, acknowledged, ...replays.slice(0, -1)] as const
    expect(played([0], ...waiting).state.isPausing).toBe(true)
    const { kinds } = played([0], ...waiting, { type: 'newCut', chain: 0 })
    expect(kinds).toEqual(['unpause', 'ask current'])
  })

  it('the source reports `reconnected`, not `refreshed`, when a check brings another chain', () => {
    const other = { type: 'answered', request: 3, work: madeWork(1, 9) } as const
    let needs: string[] = []
    let state = initialState([0, 1])
    for (const [index, event] of [start, first, standby, { type: 'refreshDue' } as const, other].entries()) {
      const [next, effects] = step(state, { ...event, atMs: index } as Event)
      state = next
      needs = effects.flatMap((effect) => (effect.type === 'deliver' ? [effect.need.reason] : []))
    }
    expect(needs).toEqual(['reconnected'])
  })

  const viewed = (...chains: [number, number][]) => ({ type: 'viewed', chances: new Map(chains) }) as const
  const needsOf = (...events: NewsOf<Event>[]) => {
    const needs: string[] = []
    const chains: number[] = []
    let state = initialState([0, 1, 2])
    for (const [index, event] of events.entries()) {
      const [next, effects] = step(state, { ...event, atMs: index } as Event)
      state = next
      for (const effect of effects) {
        if (effect.type === 'deliver') needs.push(`${effect.need.reason} ${effect.job.work.fields.chainId}`)
        if (effect.type === 'ask' && 'chain' in effect) chains.push(effect.chain ?? -1)
      }
    }
    return { state, needs, chains }
  }

  it('the source switches to the standby chain when a hash is worth more there, and keeps the old work', () => {
    const { state, needs, chains } = needsOf(start, first, standby, viewed([1, 0.3], [0, 0.2]))
    expect(needs).toEqual(['start 0', 'better 1'])
    expect(state.standby).toEqual({ kind: 'ready', work: first.work })
    expect(chains, 'nothing is asked for').toEqual([])
  })

  it('the source requests work of the best chain, and searches it when it arrives', () => {
    const best = { type: 'answered', request: 3, work: madeWork(2, 3) } as const
    const { state, needs, chains } = needsOf(start, first, standby, viewed([2, 0.3], [0, 0.2], [1, 0.1]), best)
    expect(chains).toEqual([2])
    expect(needs).toEqual(['start 0', 'better 2'])
    expect(state.standby).toEqual({ kind: 'ready', work: first.work })
  })

  it('the source stays when the gain would not be worth the change', () => {
    const { needs, chains } = needsOf(start, first, standby, viewed([2, 0.20001], [1, 0.20001], [0, 0.2]))
    expect({ needs, chains }).toEqual({ needs: ['start 0'], chains: [] })
  })

  it('the source keeps the better of two works when the node gives another than requested', () => {
    const other = { type: 'answered', request: 3, work: madeWork(3, 3) } as const
    let state = initialState([0, 1, 2, 3])
    const seen = viewed([2, 0.3], [0, 0.2], [1, 0.1], [3, 0.05])
    for (const event of [start, first, standby, seen, other]) [state] = step(state, { ...event, atMs: 0 } as Event)
    expect(state.standby).toEqual({ kind: 'ready', work: standby.work })
  })

  it('the source forgets the worth of a chain when that advances', () => {
    const { state } = needsOf(start, first, standby, viewed([0, 0.2], [1, 0.2]), { type: 'newCut', chain: 1 })
    expect([...state.rewards.keys()]).toEqual([0])
  })

  it('the source remembers the worth of a chain whose stream opens', () => {
    const opened = { type: 'streamOpened', chain: 1 } as const
    const renewed = { type: 'answered', request: 3, work: standby.work } as const
    const next = { type: 'answered', request: 4, work: madeWork(2, 4) } as const
    const seen = viewed([0, 0.2], [1, 0.2], [2, 0.2])
    const { needs } = needsOf(start, first, standby, seen, opened, renewed, { type: 'newCut', chain: 0 }, next)
    expect(needs, 'chain 2 is not better than chain 1').toEqual(['start 0', 'newCut 1'])
  })

  it('the source does not swap while the current work is being checked', () => {
    const due = { type: 'refreshDue' } as const
    const { needs } = needsOf(start, first, standby, due, viewed([1, 0.3], [0, 0.2]))
    expect(needs).toEqual(['start 0'])
  })

  it('the source resumes the same parent when the solution failed', () => {
    const submitted = { type: 'submitted', fields: first.work.fields } as const
    const reopened = { type: 'reopened', fields: first.work.fields } as const
    const again = { type: 'answered', request: 2, work: madeWork(0, 5, 9n) } as const
    const { state } = played([0], start, first, submitted, reopened, again)
    expect(state.current).toMatchObject({ kind: 'searching', job: { work: again.work } })
  })

  it('the source checks its work when the node refuses a solution: it may have restarted', () => {
    const submitted = { type: 'submitted', fields: first.work.fields } as const
    const third = { type: 'answered', request: 3, work: madeWork(2, 5) } as const
    const refused = { type: 'refused', fields: first.work.fields } as const
    const before = [start, first, standby, submitted, third] as const
    expect(played([0, 1, 2], ...before).state).toMatchObject({
      current: { kind: 'searching' },
      standby: { kind: 'ready' },
    })
    const { state, kinds } = played([0, 1, 2], ...before, refused)
    expect(kinds).toEqual(['ask current', 'ask standby'])
    expect(state.asking?.check).toBe('reconnected')
    expect(isWorkOwed(state)).toBe(true)
  })

  it('the source checks standby work that takes over during a check', () => {
    const doubted = { type: 'restartSuspected' } as const
    const { state, kinds } = played([0, 1], start, first, standby, doubted, { type: 'newCut', chain: 0 })
    expect(state.current).toMatchObject({ kind: 'searching', job: { work: standby.work } })
    expect(kinds).toContain('ask current')
    expect(isWorkOwed(state)).toBe(true)
  })

  it('the source does not mistake a check for routine when the pending request is routine', () => {
    const doubted = { type: 'restartSuspected' } as const
    const failed = { type: 'failed', request: 3, isFinal: false } as const
    const before = [start, first, standby, { type: 'refreshDue' }, doubted] as const
    expect(played([0, 1], ...before).state).toMatchObject({ asking: { check: 'refreshed' }, checkDue: 'reconnected' })
    expect(played([0, 1], ...before, failed).state.checkDue).toBe('reconnected')
  })

  it('the source keeps the job when a check brings the same work with a newer creation time', () => {
    const again = { type: 'answered', request: 3, work: madeWork(0, 5, 99n) } as const
    const { state, kinds } = played([0, 1], start, first, standby, { type: 'refreshDue' }, again)
    expect(state.current).toMatchObject({ kind: 'searching', job: { id: 1, work: first.work } })
    expect(kinds).toEqual(['refreshLater'])
  })

  it('the source takes work of the same parent with other transactions', () => {
    const again = { type: 'answered', request: 3, work: madeWork(0, 5, 99n, 3) } as const
    const { state } = played([0, 1], start, first, standby, { type: 'refreshDue' }, again)
    expect(state.current).toMatchObject({ kind: 'searching', job: { work: again.work } })
  })

  it('the source gives up only if the node refuses it before it ever gave work', () => {
    const refused = (request: number) => ({ type: 'failed', request, isFinal: true }) as const
    expect(played([0, 1], start, refused(1)).kinds).toEqual(['end'])
    const later = played([0, 1], start, first, standby, { type: 'refreshDue' }, refused(3))
    expect(later.kinds).toEqual(['pause'])
    expect(later.state.current.kind).toBe('searching')
  })

  it('the source does not mine a chain that the node lacks', () => {
    const { state, kinds } = played([0, 1], start, { type: 'answered', request: 1, work: madeWork(7, 5) })
    expect(state.current.kind).toBe('none')
    expect(kinds).toEqual(['pause'])
  })
})

describe('equality of jobs', () => {
  const work = madeWork(0, 5)
  it('two pieces of work are the same job if they differ only in creation time', () => {
    expect(isSameJob(work, madeWork(0, 5, 99n))).toBe(true)
  })

  it.each([
    ['parent', madeWork(0, 6)],
    ['transactions', madeWork(0, 5, 1n, 2)],
    ['chain', madeWork(1, 5)],
  ])('two works are different jobs if they differ in %s', (_what, other) => {
    expect(isSameJob(work, other)).toBe(false)
  })
})
