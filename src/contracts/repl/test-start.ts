/** The beginning of the run of a test file: its chain, its block and its observer. */
import { type BlockData, type BlockScope, emptyEnvironment, type Message } from '../machine/environment.ts'
import type { ReadableState } from '../machine/state.ts'
import type { ObservedRun, RunObserver } from '../trace/observer.ts'

/** Default transaction hash of tests. */
const TEST_HASH = 'DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g'

/** Rules of test files, unless they set others. */
export const testRules = { ...emptyEnvironment.block.rules, areKeysChecked: false, areSizesOfRunner: true }

/** Chain that a run begins with, instead of an empty one. */
export interface ForkedChain {
  readonly state: ReadableState
  /** The block that the run is in. */
  readonly block: BlockData
}

/** Choices for the beginning of a run. */
export interface Start {
  /** Default: none. */
  readonly observe?: ((run: ObservedRun) => RunObserver) | null
  /** Default: an empty chain. */
  readonly chain?: ForkedChain | null
}

export function initialBlock(forked: ForkedChain | null): BlockScope {
  const { block } = emptyEnvironment
  const chain = forked?.block ?? block.chain
  return { ...block, chain, rules: testRules }
}

export function initialMessage(): Message {
  return { ...emptyEnvironment.message, data: new Map(), hash: TEST_HASH }
}
