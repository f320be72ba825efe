/** The file of a new key pair. */
import { NewcutError } from '../base/errors.ts'
import { modeForOthers, writeSecretFile } from '../platform/secret-file.ts'
import { isKnownName } from '../wallet/known-names.ts'
import { outputProblem, shellWord } from './output-file.ts'

/** Writes these lines to a new file. Throws NewcutError BAD_OUTPUT for a file that exists or cannot be written. */
export function writeKeyFile(file: string, lines: readonly string[]): void {
  try {
    writeSecretFile(file, `${lines.join('\n')}\n`)
  } catch (error) {
    throw keyFileError(file, error as NodeJS.ErrnoException)
  }
}

function keyFileError(file: string, cause: NodeJS.ErrnoException): NewcutError {
  const failure = (problem: string, hint: string) =>
    new NewcutError('BAD_OUTPUT', `${file}: ${problem}`, { hint, cause })
  if (cause.code === 'EEXIST') {
    const hint = 'it may hold a key: name another file, or move this one away'
    return failure('the file exists (EEXIST), and keygen never overwrites a file', hint)
  }
  const { problem, hint } = outputProblem(file, cause)
  return failure(problem, hint)
}

/** The message about a key pair in a file, without the secret key. @param publicKey 64 hex digits */
export function keyFileLines(file: string, publicKey: string): string[] {
  // A well-known key wins over a file of the same name.
  const path = isKnownName(file) ? `./${file}` : file
  const mode = modeForOthers(file)
  const readers =
    mode === null
      ? 'which only you can read'
      : `which other users can read (mode ${mode}): its file system has no access rights`
  return [
    `account: k:${publicKey}`,
    `public key: ${publicKey}`,
    `secret key: in ${file}, ${readers}; keep a copy in a safe place`,
    `to mine for it: newcut mine --node URL --public-key k:${publicKey}`,
    `to spend from it: newcut transfer TO AMOUNT --key ${shellWord(path)}`,
  ]
}
