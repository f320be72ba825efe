/** Code and JSON in an argument, as text or as the name of a file. */
import { existsSync } from 'node:fs'
import { describeError, fileProblem, operatingError } from '#ground/base/errors.ts'
import { parsePlainJson } from '#ground/base/json.ts'
import { readUserText } from '#ground/base/user-file.ts'
import { commandErrors } from './errors.ts'

/** A word that looks like a file name, not like code such as `free.token.FEE`. */
const FILE_NAME = /^[^\s()"'[\]{}]+\.(?:pact|repl|txt|code|lisp|clj|ya?ml|json)$/i

/**
 * @returns code, or the code in the file of this name.
 * @throws NewcutError BAD_INPUT
 */
export function readCode(given: string): string {
  const isFile = existsSync(given) || FILE_NAME.test(given)
  const code = isFile ? fileText(given) : given
  if (code.trim() !== '') return code
  throw operatingError(commandErrors.emptyCode, { what: isFile ? given : 'the code' })
}

/**
 * @returns JSON text, or the JSON in `@FILE`. `flag` names it in errors.
 * @throws NewcutError BAD_INPUT for an unreadable file, BAD_OPTION for invalid JSON
 */
export function readJsonArgument(given: string, flag: string): string {
  const text = given.startsWith('@') ? fileText(given.slice(1)) : given
  try {
    parsePlainJson(text)
  } catch (error) {
    throw operatingError(commandErrors.argumentNotJson, { flag, text: given, why: describeError(error) }, error)
  }
  return text.trim()
}

/** Error of the file system -> what to do. */
const READ_ADVICE: Readonly<Record<string, string>> = {
  EISDIR: 'name a file in it',
  ENOENT: 'check the name and the folder of the file',
}

/**
 * The text of a file.
 * @throws NewcutError BAD_INPUT
 */
export function fileText(path: string, maxBytes?: number): string {
  try {
    return readUserText(path, maxBytes)
  } catch (error) {
    const advice = READ_ADVICE[(error as NodeJS.ErrnoException).code ?? ''] ?? 'name a file that you may read'
    throw operatingError(commandErrors.unreadableFile, { path, why: fileProblem(error), advice }, error)
  }
}
