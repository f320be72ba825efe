/** Port: stores the chains, so that a restarted node continues them. */
import type { Cut } from '#ground/chain/cut.ts'
import type { BlockStore } from '../store/block-store.ts'
import type { RuleChange } from './rule-history.ts'

/** Complete state of chains: a journal writes it, and chains start from it. */
export interface ChainState {
  /** All blocks in order of addition: parents before their children. */
  readonly store: BlockStore
  /** The head of every chain; all of them in the store. */
  readonly heads: Cut
  readonly ruleChanges: readonly RuleChange[]
}

export interface ChainJournal {
  /** Called before any change. @throws NewcutError DATA_UNUSABLE if no more can be written */
  readonly expectRoom: () => void
  /**
   * Notes a change of the state. The write follows at the end of this turn of the event loop or later. It is atomic, so
   * the changes of one turn are never split.
   */
  readonly noteChange: (state: ChainState) => void
  /**
   * Resolves once all changes so far survive the end of the process. Rejects with NewcutError DATA_UNUSABLE if they
   * cannot be written.
   */
  readonly durable: () => Promise<void>
}

/** Journal of chains that live in memory only. */
export const noJournal: ChainJournal = {
  expectRoom: () => undefined,
  noteChange: () => undefined,
  durable: () => Promise.resolve(),
}
