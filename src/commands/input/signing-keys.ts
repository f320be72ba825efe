/** The keys that sign, as `--key` names them: files that `newcut keygen` wrote, or well-known keys. */
import { existsSync } from 'node:fs'
import { signingKey } from '#client/wallet/keys.ts'
import { knownKey, type NamedKey } from '#client/wallet/known-keys.ts'
import { knownKeyNames } from '#client/wallet/known-names.ts'
import { isDevelopment } from '#compose/payee.ts'
import { publicKeyIn } from '#faces/cli/values.ts'
import { operatingError } from '#ground/base/errors.ts'
import { jsonObjectIn } from '#ground/base/json.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import { modeForOthers } from '#ground/platform/secret-file.ts'
import { fileText } from './code-argument.ts'
import { commandErrors } from './errors.ts'

/** The secret key: in a comment of a file of `newcut keygen`, or after `secret:` in files of other tools. */
const SECRET_LINE = /^[ \t]*(?:#[ \t]*)?(?:secret-key|secret):[ \t]*["']?([0-9a-fA-F]{64})["']?[ \t]*$/m
const PUBLIC_LINE = /^[ \t]*(?:public-key|public):[ \t]*["']?(?:k:)?([0-9a-fA-F]{64})["']?[ \t]*$/m

/**
 * @returns the keys in their order, at least one, with their accounts. Calls `warn` for files that other users may
 *  read.
 * @throws NewcutError
 */
export function signingKeys(
  given: readonly string[] | undefined,
  network: string,
  warn: (message: string) => void,
): readonly [NamedKey, ...NamedKey[]] {
  const [first, ...rest] = given ?? []
  if (first === undefined) {
    const known = isDevelopment(network) ? ', or --key sender00, which development networks fund' : ''
    throw operatingError(commandErrors.missingKey, { known })
  }
  const keys: [NamedKey, ...NamedKey[]] = [
    keyOf(first, network, warn),
    ...rest.map((name) => keyOf(name, network, warn)),
  ]
  const twice = keys.find(({ key }, i) => keys.findIndex((each) => each.key.publicKey === key.publicKey) < i)
  if (twice === undefined) return keys
  throw operatingError(commandErrors.keyTwice, { key: twice.key.publicKey })
}

function keyOf(name: string, network: string, warn: (message: string) => void): NamedKey {
  if (/^(0x)?[0-9a-fA-F]{64,}$/.test(name)) {
    throw operatingError(commandErrors.keyInsteadOfFile)
  }
  const known = knownKey(name)
  if (known === null) return keyOfFile(name, warn)
  if (isDevelopment(network)) return known
  const advice = existsSync(name) ? `for the file, write ./${name}` : 'newcut keygen FILE makes a key pair of your own'
  throw operatingError(commandErrors.developmentKey, { name, network, advice })
}

function keyOfFile(path: string, warn: (message: string) => void): NamedKey {
  if (!existsSync(path)) {
    throw operatingError(commandErrors.missingKeyFile, {
      file: path,
      guess: suggestName(path, knownKeyNames),
      known: knownKeyNames.join(', '),
    })
  }
  const { secretKey, publicKey } = keysIn(fileText(path))
  if (secretKey === undefined) {
    throw operatingError(commandErrors.noSecretKey, { file: path })
  }
  const key = signingKey(secretKey)
  if (publicKey !== undefined && publicKey.toLowerCase() !== key.publicKey) {
    // The message does not repeat the other key: it may be a secret key in the wrong place.
    throw operatingError(commandErrors.otherPublicKey, { file: path, key: key.publicKey })
  }
  const mode = modeForOthers(path)
  if (mode !== null) warn(`other users may read the secret key in ${path} (mode ${mode}); chmod 600 removes that right`)
  return { account: `k:${key.publicKey}`, key }
}

function keysIn(text: string): { readonly secretKey: string | undefined; readonly publicKey: string | undefined } {
  const json = jsonObjectIn(text)
  if (json === null) return { secretKey: SECRET_LINE.exec(text)?.[1], publicKey: PUBLIC_LINE.exec(text)?.[1] }
  const { secretKey, publicKey } = json
  const hex = (value: unknown) => (typeof value === 'string' && /^[0-9a-fA-F]{64}$/.test(value) ? value : undefined)
  return { secretKey: hex(secretKey), publicKey: typeof publicKey === 'string' ? publicKeyIn(publicKey) : undefined }
}
