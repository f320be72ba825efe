/** Executes commands of blocks: those of users, and those that the owner of the node let in with privileges. */
import type { ReadableState } from '#language/contracts/machine/state.ts'
import type { Command } from '../command/command.ts'
import { gatherPrints } from './gather-prints.ts'
import { executePrivileged } from './privileged.ts'
import {
  type ExecutedCommand,
  type ExecuteOptions,
  type ExecutingBlock,
  executeCommand,
  type RefusedCommand,
} from './transaction.ts'

/** Executes a command of a block on top of a state, without changing the state. */
export function executeInBlock(
  state: ReadableState,
  block: ExecutingBlock,
  command: Command,
  options: ExecuteOptions,
): ExecutedCommand | RefusedCommand {
  const execute = block.isPrivileged?.(command.key) ? executePrivileged : executeCommand
  const [executed, printed] = gatherPrints(block.context, (context) => {
    return execute(state, { ...block, context }, command, options)
  })
  return 'refused' in executed || printed === null ? executed : { ...executed, printed }
}
