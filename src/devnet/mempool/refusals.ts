/** Why transactions are refused, and why they leave a pool. */
import type { Command } from '../command/command.ts'
import type { YieldingWork } from '../time-slicer.ts'
import type { PoolFull } from './mempool.ts'

/** Refusal of a command whose trial takes too long, in the words of live nodes. */
export const TIMED_OUT = 'Transaction validation timed out'

/** Reason for dropping transactions that were sent after a snapshot. */
export const REVERTED = 'the network went back to a snapshot'

/** Reason for dropping transactions by order. */
export const DROPPED = 'dropped by order'

/** Reason why a transaction that is still valid does not become pending again. */
export const FULL = 'the memory pool is full'

/** Refusal of a transaction that no block could hold. */
export const BADLISTED = 'Transaction is badlisted because it previously failed to validate.'

/** A refused command: its position in the request, its request key, and the reason. */
export interface InvalidCommand {
  readonly element: number
  readonly hash: string
  readonly fault: string
}

/** Reason for a refusal: invalid commands, or a lack of room. */
export type InsertRefusal = { readonly invalid: readonly InvalidCommand[] } | PoolFull

/** Yields after each command. @param faultOf why a command is refused, or null */
export function* checkEach(
  commands: readonly Command[],
  faultOf: (command: Command, element: number) => string | null,
): YieldingWork<InsertRefusal | null> {
  const invalid: InvalidCommand[] = []
  for (const [element, command] of commands.entries()) {
    const fault = faultOf(command, element)
    if (fault !== null) invalid.push({ element, hash: command.key, fault })
    yield
  }
  return invalid.length > 0 ? { invalid } : null
}
