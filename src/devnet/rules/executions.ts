/** Port: executes blocks, and keeps what they have written. */
import type { Header } from '../../core/header.ts'
import type { Block } from '../store/block-store.ts'
import type { Payload } from '../store/payload.ts'

export interface Executions {
  /** What is wrong with the payload of the block on top of `parent`; null: its outputs are those of its transactions. */
  fault(parent: Header, payload: Payload): string | null
  /** Keeps what the block has written. Called once for each block that is new, after its parent. */
  inserted(block: Block): void
  /** Called when the head of a chain is another one, before anybody else hears of it. */
  moved(head: Header): void
}

/** For chains whose transactions nobody executes. */
export const noExecutions: Executions = {
  fault: () => null,
  inserted: () => undefined,
  moved: () => undefined,
}
