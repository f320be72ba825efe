/** Port: keeps the chains, so that a node that starts again goes on with them. */
import type { Cut } from '../../core/cut.ts'
import type { BlockStore } from '../store/block-store.ts'
import type { RuleChange } from './rules.ts'

/** The whole state of chains: what a journal writes, and what chains begin with. */
export interface ChainState {
  /** Every block, in the order in which they were added: parents before their children. */
  readonly store: BlockStore
  /** The head of every chain; all of them in the store. */
  readonly heads: Cut
  readonly ruleChanges: readonly RuleChange[]
}

export interface ChainJournal {
  /** Asked before anything changes. Throws NewcutError DATA_UNUSABLE when no more can be written. */
  readonly admit: () => void
  /**
   * Notes that the state has changed. It is written at the end of this turn of the event loop or later, as a whole or
   * not at all, so that the changes of one turn are never split.
   */
  readonly changed: (state: ChainState) => void
  /**
   * Resolves when all changes so far survive the end of the process. Rejects with NewcutError DATA_UNUSABLE when they
   * cannot be written.
   */
  readonly durable: () => Promise<void>
}

/** The journal of chains that live in memory only. */
export const noJournal: ChainJournal = {
  admit: () => undefined,
  changed: () => undefined,
  durable: () => Promise.resolve(),
}
