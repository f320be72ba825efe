/** Why a file that the user named cannot be written, and what to do. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'

export interface OutputProblem {
  /** Completes "FILE: ...". */
  readonly problem: string
  readonly hint: string
}

/** `error`: what the file system said when the file at `path` was to be opened for writing. */
export function outputProblem(path: string, { code }: NodeJS.ErrnoException): OutputProblem {
  const folder = dirname(path)
  if (code === 'ENOENT' && !existsSync(folder)) {
    return { problem: `there is no folder ${folder} (ENOENT)`, hint: `mkdir -p ${shellWord(folder)} makes it` }
  }
  if (code === 'EISDIR') return { problem: 'this is a folder (EISDIR)', hint: 'name a file in it' }
  return { problem: `it cannot be written (${code})`, hint: 'name a file in a folder that you may write to' }
}

/** A word as shells read it. */
export const shellWord = (word: string) =>
  /^[\w./~@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
