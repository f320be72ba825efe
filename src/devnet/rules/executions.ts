/** Port: executes blocks, and keeps what they have written. */
import type { LayerEntry } from '../../contracts/machine/state.ts'
import type { Header } from '../../core/header.ts'
import type { Block } from '../store/block-store.ts'
import type { StoredPayload } from '../store/payload.ts'

/** What a block writes, in the order of its commands; the reward first. */
export type Writes = readonly (readonly LayerEntry[])[]

/** A payload whose outputs are those of its transactions, and what it writes. */
export interface Judged {
  readonly writes: Writes
}

/** Why a payload has other outputs, or may not be executed. */
export interface Misexecuted {
  readonly fault: string
}

export interface Executions {
  /** Executes the payload of a block on top of `parent`. Keeps nothing. */
  judge(parent: Header, payload: StoredPayload): Judged | Misexecuted
  /** Keeps what a block writes. Called once for each block that is new, after its parent. */
  keep(block: Block, judged: Judged): void
  /** Called when the head of a chain is another one, before anybody else hears of it. */
  moved(head: Header): void
}

/** For chains whose transactions nobody executes. */
export const noExecutions: Executions = {
  judge: () => ({ writes: [] }),
  keep: () => undefined,
  moved: () => undefined,
}
