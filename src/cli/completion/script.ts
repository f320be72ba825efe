/** Completion scripts, written from the commands and options of the program. Typing does not start it. */
import type { Command } from 'commander'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { completedOf } from './model.ts'
import { zshScript } from './zsh.ts'

const writers = { bash: bashScript, zsh: zshScript, fish: fishScript }

export type Shell = keyof typeof writers

export const shells = Object.keys(writers) as readonly Shell[]

/** The script for a shell, with a line break at its end. */
export const completionScript = (program: Command, shell: Shell): string => writers[shell](completedOf(program))
