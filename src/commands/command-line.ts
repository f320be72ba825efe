/** Runs a command line. */
import { asNewcutError } from '../base/errors.ts'
import { exitCodeOf } from '../base/exit-codes.ts'
import { reportError } from '../cli/console.ts'
import { runProgram } from '../cli/program.ts'
import { surroundings } from '../cli/surroundings.ts'
import type { Surroundings } from '../cli/terminal.ts'
import { toolCommands } from './tool-commands.ts'

/** Runs a command line without node and script. Resolves with the exit code. */
export async function newcut(args: readonly string[], around: Surroundings): Promise<number> {
  // The options of all other commands would double what these load.
  const isTool = toolCommands.some(({ name }) => name === args[0])
  return runProgram(args, around, isTool ? toolCommands : (await import('./commands.ts')).commandRows)
}

/** The same in a process of its own, whose crashes it reports. */
export function runProcess(args: readonly string[]): Promise<number> {
  process.on('uncaughtException', (error) => {
    const ours = asNewcutError(error)
    reportError(ours, 'text', surroundings)
    process.exit(exitCodeOf(ours.code))
  })
  return newcut(args, surroundings)
}
