/** Gathers what commands print, on networks whose node allows it. */
import { PrintLog, type PrintOutput } from '#language/contracts/trace/print-log.ts'
import type { BlockContext } from './block-context.ts'

/**
 * Runs a command, with a context that takes what its code prints.
 * @returns its outcome, and what it printed; null if no code of it names or calls `print`
 */
export function gatherPrints<T>(
  context: BlockContext,
  run: (context: BlockContext) => T,
): readonly [T, PrintOutput | null] {
  if (context.isPrintAllowed !== true) return [run(context), null]
  const print = new PrintLog()
  const outcome = run(Object.assign({}, context, { print }))
  return [outcome, print.output]
}
