/** Turns every lie of a table into a test. */
import { afterAll, describe, it } from 'vitest'
import type { GraphName } from '../../src/core/graph.ts'
import { rotating } from '../rotation.ts'
import { lieAtStart, lieForAWhile, lieForEver } from './attack.ts'
import { type Lane, Lanes } from './lane.ts'
import { type Lie, type StartLie, sentence, startSentence } from './lie.ts'

/** The lies of a run: all in a full one, else a third of them. */
export const lying = <T>(lies: readonly T[]): T[] => rotating(lies, Math.ceil(lies.length / 3))

/** Runs several tests at once, since lies mostly wait. A failed test shows the output of its miner and its node. */
function testEach<T>(
  lies: readonly T[],
  titleOf: (lie: T) => string,
  tell: (lane: Lane, lie: T) => Promise<void>,
  graph?: GraphName,
): void {
  const lanes = new Lanes(lies.length, graph)
  afterAll(() => lanes.close())
  for (const lie of lies) {
    it.concurrent(titleOf(lie), ({ onTestFailed }) =>
      lanes.use((lane) => {
        // Console output could be attributed to another running test; an error belongs to this one.
        onTestFailed(() => {
          throw lane.failure('what was seen')
        })
        return tell(lane, lie)
      }),
    )
  }
}

export function testLies(lies: readonly Lie[], graph?: GraphName): void {
  describe('while a miner mines', () => {
    testEach(lies, ({ title, property }) => `${title}: ${sentence[property]}`, lieForAWhile, graph)
  })
}

export function testLiesAtStart(lies: readonly StartLie[]): void {
  describe('from the first request on', () => {
    testEach(lies, ({ title, property }) => `${title}: ${startSentence[property.kind]}`, lieAtStart)
  })
}

export function testLiesForEver(lies: readonly Lie[]): void {
  describe('until the miner is stopped', () => {
    testEach(lies, ({ title }) => `${title}: the miner stops, with its summary`, lieForEver)
  })
}
