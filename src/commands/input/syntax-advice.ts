/** Nodes refuse unreadable code without the bracket that is open, or without a place. newcut adds them. */
import { existsSync } from 'node:fs'
import { NodeRefusal } from '#client/node/errors.ts'
import { isUnreadableCode } from '#client/wallet/advice.ts'
import { CommandFailed } from '#client/wallet/failure.ts'
import { NewcutError, withHint } from '#ground/base/errors.ts'
import { ContractError } from '#language/contracts/errors.ts'
import { readProgram } from '#language/contracts/syntax/program.ts'

/**
 * Says where newcut cannot read the code, if the node could not.
 * @param given code or its file, as the user named it
 * @returns the error itself if it has another reason
 */
export function withSyntaxAdvice(given: string, code: string, error: unknown): unknown {
  const said = error instanceof CommandFailed ? error.error.message : ''
  const hint = isOfSyntax(error) ? syntaxAdviceOf(given, code, said) : null
  if (hint === null || !(error instanceof NewcutError)) return error
  return withHint(error, hint)
}

function isOfSyntax(error: unknown): boolean {
  if (error instanceof CommandFailed) return error.error.type === 'SyntaxError'
  return error instanceof NodeRefusal && isUnreadableCode(error.excerpt)
}

/**
 * @param said reason that the node gave
 * @returns place and reason, without what the node said, or null for code that newcut can read
 */
function syntaxAdviceOf(given: string, code: string, said: string): string | null {
  try {
    readProgram(code)
    return null
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    const { line, column } = error.place ?? { line: 0, column: 0 }
    const place = `${existsSync(given) ? given : 'code'}:${line + 1}:${column + 1}`
    const reason = said !== '' && error.message.startsWith(said) ? error.message.slice(said.length) : error.message
    const bare = reason.trim().replace(/^\((.*)\)$/, '$1')
    return bare === '' ? place : `${place}: ${bare}`
  }
}
