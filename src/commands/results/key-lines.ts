/** The message about a new key pair in a file. */

import { isKnownName } from '#client/wallet/known-names.ts'
import { shellWord } from '#faces/cli/output-file.ts'
import { modeForOthers } from '#ground/platform/secret-file.ts'

/** Lines without the secret key. @param publicKey 64 hex digits */
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
