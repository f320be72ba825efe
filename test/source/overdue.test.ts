/** Time in the state machine of a node's work: overdue work, and signs of a restart. */
import { describe, expect, it } from 'vitest'
import { overdueMs } from '../../src/mining/source/node/overdue.ts'
import { type Event, initialState, type State } from '../../src/mining/source/node/state.ts'
import { step } from '../../src/mining/source/node/step.ts'
import { madeWork } from './simulated-node.ts'

/** The state after these events, and the effects of each event. */
function played(events: readonly Event[]): { readonly state: State; readonly wanted: readonly (readonly string[])[] } {
  let state = initialState([0])
  const wanted = events.map((event) => {
    const [next, effects] = step(state, event)
    state = next
    return effects.map(({ type }) => type)
  })
  return { state, wanted }
}

const started: Event = { type: 'started', atMs: 1_000 }
const answered = (request: number, atMs: number): Event => ({ type: 'answered', request, work: madeWork(0, 5), atMs })
const failed = (request: number, atMs: number): Event => ({ type: 'failed', request, isFinal: false, atMs })

describe('overdue work', () => {
  it('the work is overdue from the first unanswered request', () => {
    expect(overdueMs(played([started]).state, 4_000)).toBe(3_000)
  })

  it('the work is overdue through failures and pauses until some arrives', () => {
    const outage = [started, failed(1, 2_000), { type: 'paused', purpose: 'current', atMs: 2_500 } as const]
    expect(overdueMs(played(outage).state, 4_000)).toBe(3_000)
    expect(overdueMs(played([...outage, answered(2, 3_000)]).state, 4_000)).toBe(0)
  })

  it('the work is not overdue during a routine request, and is when that fails', () => {
    const routine: Event[] = [started, answered(1, 1_100), { type: 'refreshDue', atMs: 5_000 }]
    expect(overdueMs(played(routine).state, 9_000)).toBe(0)
    expect(overdueMs(played([...routine, failed(2, 6_000)]).state, 9_000)).toBe(4_000)
  })

  it('the work stops being overdue with an answer that nobody needs any more', () => {
    const { state } = played([started, answered(7, 3_000)])
    expect(overdueMs(state, 4_000)).toBe(1_000)
  })
})

describe('signs of a restart', () => {
  const sign = (atMs: number): Event => ({ type: 'restartSuspected', atMs })
  const due = (atMs: number): Event => ({ type: 'suspicionDue', atMs })
  const mining = [started, answered(1, 1_100)]
  const after = (...events: Event[]) => played([...mining, ...events]).wanted.slice(mining.length)

  it('the signs of a restart count at once, and the next one after a second at the earliest', () => {
    expect(after(sign(2_000), answered(2, 2_010), sign(2_400), sign(2_500), due(3_000))).toEqual([
      ['ask'],
      ['refreshLater'],
      ['suspicionLater'],
      [],
      ['ask'],
    ])
  })

  it('the signs of a restart count less and less often, and as at first after two quiet minutes', () => {
    const { state } = played([...mining, sign(2_000), sign(2_100), due(3_000)])
    expect(state.suspicion).toMatchObject({ everyMs: 4_000, notBeforeMs: 5_000, isWaiting: false })
    const [later] = step(state, sign(122_100))
    expect(later.suspicion).toMatchObject({ everyMs: 2_000, notBeforeMs: 123_100 })
  })
})
