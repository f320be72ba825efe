/** Code and JSON in an argument, as text or as the name of a file. */
import { existsSync } from 'node:fs'
import { describeError, fileProblem, NewcutError } from '#ground/base/errors.ts'
import { parsePlainJson } from '#ground/base/json.ts'
import { readUserText } from '#ground/base/user-file.ts'

/** A word that looks like a file name, not like code such as `free.token.FEE`. */
const FILE_NAME = /^[^\s()"'[\]{}]+\.(?:pact|repl|txt|code|lisp|clj|ya?ml|json)$/i

/** @returns code, or the code in the file of this name. Throws NewcutError BAD_INPUT. */
export function readCode(given: string): string {
  const isFile = existsSync(given) || FILE_NAME.test(given)
  const code = isFile ? fileText(given) : given
  if (code.trim() !== '') return code
  throw new NewcutError('BAD_INPUT', `${isFile ? given : 'the code'} is empty`, {
    hint: `expected code, such as '(coin.get-balance "sender00")'`,
  })
}

/**
 * @returns JSON text, or the JSON in `@FILE`. `flag` names it in errors. Throws NewcutError BAD_INPUT for an unreadable
 * file, BAD_OPTION for invalid JSON.
 */
export function readJsonArgument(given: string, flag: string): string {
  const text = given.startsWith('@') ? fileText(given.slice(1)) : given
  try {
    parsePlainJson(text)
  } catch (error) {
    throw new NewcutError('BAD_OPTION', `${flag} ${given}: not JSON: ${describeError(error)}`, {
      hint: `JSON such as '{"n": 1}', or @FILE`,
    })
  }
  return text.trim()
}

/** The text of a file. Throws NewcutError BAD_INPUT. */
export function fileText(path: string, maxBytes?: number): string {
  try {
    return readUserText(path, maxBytes)
  } catch (error) {
    const hint = (error as NodeJS.ErrnoException).code === 'EISDIR' ? 'name a file in it' : undefined
    throw new NewcutError('BAD_INPUT', `cannot read ${path}: ${fileProblem(error)}`, { cause: error, hint })
  }
}
