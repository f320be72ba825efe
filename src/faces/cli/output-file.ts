/** Files that users name for output, and why one cannot be written. */
import { existsSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { operatingError } from '#ground/base/errors.ts'
import { cliErrors } from './errors.ts'

interface OutputProblem {
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

/**
 * Writes the file of an option such as `--junit`.
 * @throws NewcutError BAD_OUTPUT
 */
export function writeOutput(flag: string, path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (error) {
    const { problem, hint } = outputProblem(path, error as NodeJS.ErrnoException)
    throw operatingError(cliErrors.unwritableOutput, { flag, file: path, problem, advice: hint })
  }
}

/** A word in the quoting of shells. */
export const shellWord = (word: string) =>
  /^[\w./~@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
