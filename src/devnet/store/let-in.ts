/** Commands in blocks that are valid only because the owner of this node let them in. */

/**
 * How a command was let in: by impersonation of a signer, or as an order that runs with privileges. `prints` marks a
 * block whose code names or calls `print` (printMark).
 */
export type LetIn = 'unsigned' | 'privileged' | 'prints'

/** Request key, or mark of a block -> how it was let in. It only grows. */
export type LetInKeys = ReadonlyMap<string, LetIn>

const PRINTS = 'prints:'

/** The mark of a block whose code names or calls `print`. No request key has a colon. */
export const printMark = (blockId: string): string => `${PRINTS}${blockId}`

/** Whether a network has a block whose code names or calls `print`. */
export function hasPrintMarks(letIn: LetInKeys): boolean {
  for (const how of letIn.values()) if (how === 'prints') return true
  return false
}
