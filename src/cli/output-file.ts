/** Why a file that the user named cannot be written, and what to do. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'

export interface OutputProblem {
  /** Completes "FILE: ...". */
  readonly problem: string
  readonly hint: string
}

/** `error`: the error of the file system when newcut opened `path` for writing. */
export function outputProblem(path: string, { code }: NodeJS.ErrnoException): OutputProblem {
  const folder = dirname(path)
  if (code === 'ENOENT' && !existsSync(folder)) {
    return { problem: `there is no folder ${folder} (ENOENT)`, hint: `mkdir -p ${shellWord(folder)} makes it` }
  }
  if (code === 'EISDIR') return { problem: 'this is a folder (EISDIR)', hint: 'name a file in it' }
  return { problem: `it cannot be written (${code})`, hint: 'name a file in a folder that you may write to' }
}

/** A word in the quoting of shells. */
export const shellWord = (word: string) =>
  /^[\w./~@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
