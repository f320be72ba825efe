/** Port: executes blocks, and records their writes. */

import type { Header } from '#ground/chain/header.ts'
import type { LayerEntry } from '#language/contracts/machine/state.ts'
import type { CommandPrintOutput } from '#language/contracts/trace/print-log.ts'
import type { Block } from '../store/block-store.ts'
import type { StoredPayload } from '../store/payload.ts'

/** Writes of a block in the order of its commands; the reward first. */
export type Writes = readonly (readonly LayerEntry[])[]

/** A payload whose outputs are those of its transactions, with its writes. */
export interface ExecutedPayload {
  readonly writes: Writes
  /** The printed texts of its commands. Default: none. */
  readonly printed?: readonly CommandPrintOutput[]
}

/** Reason why a payload has other outputs, or may not be executed. */
export interface ExecutionFault {
  readonly fault: string
}

export interface Executions {
  /** Executes the payload of a block on top of `parent`. Records nothing. */
  judge(parent: Header, payload: StoredPayload): ExecutedPayload | ExecutionFault
  /** Executes the payload of a block of others ahead of `judge`, so that the node serves requests meanwhile. */
  prepare(parent: Header, payload: StoredPayload): Promise<void>
  /** Records the writes of a block. Called once for each new block, after its parent. */
  recordWrites(block: Block, judged: ExecutedPayload): void
  /** Called with the new head of a chain, before any listener. */
  followHead(head: Header): void
}

/** For chains whose transactions are not executed. */
export const noExecutions: Executions = {
  judge: () => ({ writes: [] }),
  prepare: async () => undefined,
  recordWrites: () => undefined,
  followHead: () => undefined,
}
