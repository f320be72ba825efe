/** The states of a solution, and the rules for them. */
import { describe, expect, it } from 'vitest'
import {
  failedOf,
  mayContinue,
  type StepName,
  stepNames,
  verdictOf,
  verdicts,
  wasReceived,
} from '../../src/ground/chain/solution.ts'

describe('a step', () => {
  it('each step leads to a verdict, or to none yet', () => {
    expect(Object.fromEntries(stepNames.map((step) => [step, verdictOf(step)]))).toEqual({
      ...{ found: null, 'handed-in': null, acknowledged: null },
      ...{ credited: 'accepted', confirmed: 'accepted', unconfirmed: 'unconfirmed' },
      ...{ stale: 'stale', orphaned: 'orphaned', rejected: 'rejected', lost: 'lost' },
    })
  })

  it('each step states whether the issuer accepted the solution', () => {
    const not = stepNames.filter((step) => !wasReceived(step))
    expect(not).toEqual(['found', 'handed-in', 'rejected', 'lost'])
  })

  it.each<[StepName, { depth?: number; mayReturn?: boolean; reason?: string }, boolean]>([
    ['found', {}, true],
    ['handed-in', {}, true],
    ['acknowledged', {}, true],
    ['unconfirmed', {}, true],
    ['credited', {}, false],
    ['confirmed', { depth: 5 }, true],
    ['confirmed', { depth: 6 }, false],
    ['confirmed', {}, true],
    ['stale', {}, false],
    ['stale', { mayReturn: true }, true],
    ['orphaned', {}, false],
    ['orphaned', { mayReturn: true }, true],
    ['rejected', { mayReturn: true }, false],
    ['lost', { reason: 'unreachable' }, false],
    ['lost', { reason: 'unreachable', mayReturn: true }, true],
    ['lost', { reason: 'stopped' }, true],
  ])('a solution at %s %j, settled at depth 6, may continue: %s', (step, told, goesOn) => {
    expect(mayContinue({ step, ...told }, 6)).toBe(goesOn)
  })
})

it('all verdicts but accepted and unconfirmed are failures', () => {
  for (const verdict of verdicts) {
    const counts = { accepted: 0, unconfirmed: 0, stale: 0, orphaned: 0, rejected: 0, lost: 0, [verdict]: 3 }
    expect(failedOf(counts), verdict).toEqual(['accepted', 'unconfirmed'].includes(verdict) ? 0 : 3)
  }
})
