/** `newcut completion`: a script for a shell, from the rows of commands and options. */
import type { CommandRow } from '#faces/cli/command-row.ts'
import { completionScript } from '#faces/cli/completion/script.ts'
import type { Shell } from '#faces/cli/completion/shells.ts'
import { programOf } from '#faces/cli/program.ts'
import type { CommandContext } from '#faces/cli/terminal.ts'

export function runCompletion(shell: Shell, rows: readonly CommandRow[], context: CommandContext): number {
  const program = programOf(context, rows, { code: 0, format: 'text' }, null)
  context.out.write(completionScript(program, shell))
  return 0
}
