/** `newcut format`: formats contracts and test files. */
import { existsSync, writeFileSync } from 'node:fs'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { fileProblem, operatingError } from '#ground/base/errors.ts'
import { MAX_CODE_BYTES, suggestFile } from '#ground/base/user-file.ts'
import { formatFile } from '#language/editor/format/format.ts'
import { isContractFile } from '#language/editor/workspace/disk-files.ts'
import { fileText } from './input/code-argument.ts'
import { commandErrors } from './input/errors.ts'

export interface FormatOptions {
  readonly files: readonly string[]
  /** Lists the files that would change, and changes none. */
  readonly check: boolean
}

/**
 * Returns the exit code: 1 if a file cannot be read, or with `check` if one would change.
 * @throws NewcutError BAD_OPTION if a file is not a contract or a test
 */
export async function runFormat({ files, check }: FormatOptions, { out, err }: CommandContext): Promise<number> {
  const [print, complain] = [printerTo(out), printerTo(err)]
  let failed = false
  for (const file of files) {
    if (!isContractFile(file))
      throw operatingError(commandErrors.notContractFile, { file, guess: existsSync(file) ? '' : suggestFile(file) })
    const text = fileText(file, MAX_CODE_BYTES)
    const result = formatFile(file, text)
    if ('errors' in result) {
      failed = true
      for (const { line, column, message } of result.errors) complain(`${file}:${line}:${column}: ${message}`)
    } else if (result.text !== text) {
      print(file)
      if (check) failed = true
      else write(file, result.text)
    }
  }
  return failed ? 1 : 0
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw operatingError(commandErrors.unwritableFile, { path: file, why: fileProblem(error) }, error)
  }
}
