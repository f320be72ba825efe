/** `newcut completion`: a script for a shell, from the rows of commands and options. */
import type { CommandRow } from '../cli/command-row.ts'
import { completionScript } from '../cli/completion/script.ts'
import type { Shell } from '../cli/completion/shells.ts'
import { programOf } from '../cli/program.ts'
import type { Surroundings } from '../cli/terminal.ts'

export function runCompletion(shell: Shell, rows: readonly CommandRow[], surroundings: Surroundings): number {
  const program = programOf(surroundings, rows, { code: 0, format: 'text' }, null)
  surroundings.out.write(completionScript(program, shell))
  return 0
}
