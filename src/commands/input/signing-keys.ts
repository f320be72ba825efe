/** The keys that sign, as `--key` names them: files that `newcut keygen` wrote, or well-known keys. */
import { existsSync } from 'node:fs'
import { signingKey } from '#client/wallet/keys.ts'
import { knownKey, type NamedKey } from '#client/wallet/known-keys.ts'
import { knownKeyNames } from '#client/wallet/known-names.ts'
import { isDevelopment } from '#compose/payee.ts'
import { publicKeyIn } from '#faces/cli/values.ts'
import { NewcutError } from '#ground/base/errors.ts'
import { jsonObjectIn } from '#ground/base/json.ts'
import { modeForOthers } from '#ground/platform/secret-file.ts'
import { fileText } from './code-argument.ts'

/** The secret key: in a comment of a file of `newcut keygen`, or after `secret:` in files of other tools. */
const SECRET_LINE = /^[ \t]*(?:#[ \t]*)?(?:secret-key|secret):[ \t]*["']?([0-9a-fA-F]{64})["']?[ \t]*$/m
const PUBLIC_LINE = /^[ \t]*(?:public-key|public):[ \t]*["']?(?:k:)?([0-9a-fA-F]{64})["']?[ \t]*$/m

/**
 * @returns the keys in their order, at least one, with their accounts. Calls `warn` for files that other users may read.
 * Throws NewcutError.
 */
export function signingKeys(
  given: readonly string[] | undefined,
  network: string,
  warn: (message: string) => void,
): readonly [NamedKey, ...NamedKey[]] {
  const [first, ...rest] = given ?? []
  if (first === undefined) {
    const known = isDevelopment(network) ? ', or --key sender00, which development networks fund' : ''
    throw new NewcutError('BAD_OPTION', '--key is missing: a transaction needs a signature', {
      hint: `name a file that newcut keygen wrote${known}`,
    })
  }
  const keys: [NamedKey, ...NamedKey[]] = [
    keyOf(first, network, warn),
    ...rest.map((name) => keyOf(name, network, warn)),
  ]
  const twice = keys.find(({ key }, i) => keys.findIndex((each) => each.key.publicKey === key.publicKey) < i)
  if (twice === undefined) return keys
  throw new NewcutError('BAD_OPTION', `--key: the key ${twice.key.publicKey} is given twice`, { hint: 'give it once' })
}

function keyOf(name: string, network: string, warn: (message: string) => void): NamedKey {
  if (/^(0x)?[0-9a-fA-F]{64,}$/.test(name)) {
    throw new NewcutError('BAD_OPTION', '--key takes the name of a file, not a key', {
      hint: 'other users of this machine can read command lines; newcut keygen FILE makes a key pair',
    })
  }
  const known = knownKey(name)
  if (known === null) return keyOfFile(name, warn)
  if (isDevelopment(network)) return known
  throw new NewcutError(
    'BAD_OPTION',
    `--key ${name} is a public key pair for development, and ${network} is not a development network`,
    {
      hint: existsSync(name) ? `for the file, write ./${name}` : 'newcut keygen FILE makes a key pair of your own',
    },
  )
}

function keyOfFile(path: string, warn: (message: string) => void): NamedKey {
  if (!existsSync(path)) {
    throw new NewcutError('BAD_INPUT', `--key ${path}: no such file`, {
      hint: `newcut keygen FILE makes a key pair; well-known keys are ${knownKeyNames.join(', ')}`,
    })
  }
  const { secretKey, publicKey } = keysIn(fileText(path))
  if (secretKey === undefined) {
    throw new NewcutError('BAD_INPUT', `--key ${path}: there is no secret key in it`, {
      hint: 'expected what newcut keygen prints, as text or JSON',
    })
  }
  const key = signingKey(secretKey)
  if (publicKey !== undefined && publicKey.toLowerCase() !== key.publicKey) {
    throw new NewcutError('BAD_INPUT', `--key ${path}: its secret key belongs to the public key ${key.publicKey}`, {
      // The message does not repeat it: it may be a secret key in the wrong place.
      hint: 'the file names another public key: correct it, or leave it out',
    })
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
