/** Parses the commands of a request before anything else uses them. */
import type { Command } from '../command/command.ts'
import { CommandFault } from '../command/read.ts'
import type { YieldingWork } from '../time-slicer.ts'

/** The first element of a request that does not parse. */
export interface UnreadableCommand {
  readonly unread: { readonly element: number; readonly fault: string }
}

/** Parses one command in each step: a request may hold thousands. */
export function* readAll<T>(
  items: readonly T[],
  read: (item: T) => Command | CommandFault,
): YieldingWork<readonly Command[] | UnreadableCommand> {
  const commands: Command[] = []
  for (const [element, item] of items.entries()) {
    const command = read(item)
    if (command instanceof CommandFault) return { unread: { element, fault: command.message } }
    commands.push(command)
    yield
  }
  return commands
}

export const isUnreadable = (read: readonly Command[] | UnreadableCommand): read is UnreadableCommand =>
  'unread' in read
