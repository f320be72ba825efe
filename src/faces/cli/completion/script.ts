/** Completion scripts from the commands and options of the program. Completing does not start newcut. */
import type { Command } from 'commander'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { type CompletionModel, completionModelOf } from './model.ts'
import type { Shell } from './shells.ts'
import { zshScript } from './zsh.ts'

const writers: Readonly<Record<Shell, (model: CompletionModel) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** The script for a shell, with a line break at its end. */
export const completionScript = (program: Command, shell: Shell): string => writers[shell](completionModelOf(program))
