/** Turns every lie of a table into a test. */
import { afterAll, describe, it } from 'vitest'
import type { GraphName } from '../../src/ground/chain/graph.ts'
import { rotating } from '../rotation.ts'
import { lieAtStart, lieForAWhile, lieUntilStopped } from './attack.ts'
import { type Lane, Lanes } from './lane.ts'
import { type Lie, type StartLie, sentence, startSentence } from './lie.ts'

/** The lies of a run: all in a full one, else a third of them. */
export const lying = <T>(lies: readonly T[]): T[] => rotating(lies, Math.ceil(lies.length / 3))

export interface LieOptions {
  readonly graph?: GraphName
  /**
   * Lanes in which the lies run one by one. That takes longer, but less processor time: every miner mines all the
   * time. Default: new lanes, in which several lies run at once.
   */
  readonly lanes?: Lanes
}

/**
 * By default runs several tests at once, since lies mostly wait. A failed test shows the output of its miner and its
 * node.
 */
function testEach<T>(
  lies: readonly T[],
  titleOf: (lie: T) => string,
  runLie: (lane: Lane, lie: T) => Promise<void>,
  options: LieOptions = {},
): void {
  const lanes = options.lanes ?? new Lanes(lies.length, options.graph)
  if (options.lanes === undefined) afterAll(() => lanes.close())
  const test = options.lanes === undefined ? it.concurrent : it
  for (const lie of lies) {
    test(titleOf(lie), ({ onTestFailed }) =>
      lanes.use((lane) => {
        // Console output could be attributed to another running test; an error belongs to this one.
        onTestFailed(() => {
          throw lane.failure('what was seen')
        })
        return runLie(lane, lie)
      }),
    )
  }
}

export function testLies(lies: readonly Lie[], options?: LieOptions): void {
  describe('while a miner mines', () => {
    testEach(lies, ({ title, property }) => `${title}: ${sentence[property]}`, lieForAWhile, options)
  })
}

export function testLiesAtStart(lies: readonly StartLie[], options?: LieOptions): void {
  describe('from the first request on', () => {
    testEach(lies, ({ title, property }) => `${title}: ${startSentence[property.kind]}`, lieAtStart, options)
  })
}

export function testLiesUntilStopped(lies: readonly Lie[], options?: LieOptions): void {
  describe('until the miner is stopped', () => {
    testEach(lies, ({ title }) => `${title}: the miner stops, with its summary`, lieUntilStopped, options)
  })
}
