/** `newcut completion`: a script for a shell, from the rows of commands and options. */
import { completionScript } from '../cli/completion/script.ts'
import type { Shell } from '../cli/completion/shells.ts'
import { programOf } from '../cli/program.ts'
import type { Surroundings } from '../cli/terminal.ts'
import { commandRows } from './commands.ts'

export function runCompletion(shell: Shell, surroundings: Surroundings): number {
  const program = programOf(surroundings, commandRows, { code: 0, format: 'text' })
  surroundings.out.write(completionScript(program, shell))
  return 0
}
