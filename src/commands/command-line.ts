/** Runs a command line. */

import { reportError } from '#faces/cli/console.ts'
import { runProgram } from '#faces/cli/program.ts'
import { surroundings } from '#faces/cli/surroundings.ts'
import type { Surroundings } from '#faces/cli/terminal.ts'
import { asNewcutError } from '#ground/base/errors.ts'
import { exitCodeOf } from '#ground/base/exit-codes.ts'
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
