/** Runs a command line. */

import { reportError } from '#faces/cli/console.ts'
import { processContext } from '#faces/cli/process-context.ts'
import { runProgram } from '#faces/cli/program.ts'
import type { CommandContext } from '#faces/cli/terminal.ts'
import { asNewcutError } from '#ground/base/errors.ts'
import { exitCodeOf } from '#ground/base/exit-codes.ts'
import { toolCommands } from './tool-commands.ts'

/** Runs a command line without node and script. Resolves with the exit code. */
export async function newcut(args: readonly string[], context: CommandContext): Promise<number> {
  // The options of all other commands would double what these load.
  const isTool = args.length > 0 && toolCommands.some(({ name, alias }) => name === args[0] || alias === args[0])
  return runProgram(args, context, isTool ? toolCommands : (await import('./commands.ts')).commandRows)
}

/** The same in a process of its own, whose crashes it reports. */
export function runProcess(args: readonly string[]): Promise<number> {
  process.on('uncaughtException', (error) => {
    const ours = asNewcutError(error)
    reportError(ours, 'text', processContext)
    process.exit(exitCodeOf(ours.code))
  })
  return newcut(args, processContext)
}
