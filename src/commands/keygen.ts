/** `newcut keygen [FILE]`: an ed25519 key pair; the public key names the default account `k:<key>`. */
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { encodeHex } from '../base/bytes.ts'
import { publicKeyOf, SECRET_KEY_BYTES, secretKeyOf } from '../base/ed25519.ts'
import { NewcutError } from '../base/errors.ts'
import { printerTo, type Surroundings } from '../cli/terminal.ts'
import { modeForOthers, writeSecretFile } from '../platform/secret-file.ts'
import { isKnownName } from '../wallet/known-names.ts'
import { outputProblem, shellWord } from './output-file.ts'

/** A key that YAML would read as a number. */
const NUMBER = /^\d+(e\d+)?$/

export interface KeyPair {
  /** 64 hex digits. */
  readonly publicKey: string
  /** 64 hex digits (the RFC 8032 seed). */
  readonly secretKey: string
}

export interface KeygenOptions {
  /** The file for the key pair. Without it, newcut prints the key pair. */
  readonly file: string | undefined
  readonly json: boolean
}

/** Throws NewcutError BAD_OUTPUT for a file that exists or cannot be written. No key pair is kept then. */
export async function runKeygen({ file, json }: KeygenOptions, { out, err }: Surroundings): Promise<number> {
  const print = printerTo(out)
  const keys = generateKeys()
  if (file !== undefined) {
    writeKeyFile(file, keys)
    if (json) print(JSON.stringify({ ...publicParts(keys), file: resolve(file) }))
    else for (const line of fileLines(file, keys)) print(line)
    return 0
  }
  if (json) print(JSON.stringify({ ...keys, account: `k:${keys.publicKey}` }))
  else for (const line of keyLines(keys)) print(line)
  const mode = out.fd === undefined ? null : modeForOthers(out.fd)
  if (mode !== null) {
    const remedy = 'chmod 600 removes that right, and newcut keygen FILE writes a private file'
    printerTo(err)(
      `newcut: warning: other users may read the file that now holds the secret key (mode ${mode}): ${remedy}`,
    )
  }
  return 0
}

/** Without `generateKeyPair`: in Node 20, an export of its key hangs if the garbage collector runs meanwhile. */
function generateKeys(): KeyPair {
  const seed = randomBytes(SECRET_KEY_BYTES)
  return { publicKey: publicKeyOf(secretKeyOf(seed)), secretKey: encodeHex(seed) }
}

const publicParts = ({ publicKey }: KeyPair) => ({ account: `k:${publicKey}`, publicKey })

/** A configuration file for `newcut mine`. Lines that are not options are comments. */
export function keyLines({ publicKey, secretKey }: KeyPair): string[] {
  return [
    `public-key: ${NUMBER.test(publicKey) ? JSON.stringify(publicKey) : publicKey}`,
    `# account: k:${publicKey}`,
    `# secret-key: ${secretKey}`,
    '# Keep the secret key secret: anybody who has it can spend what the account is paid. Mining needs only the public key.',
    '# To mine for it: newcut mine --public-key KEY, or --config FILE with the file of these lines.',
    '# To spend from it: newcut transfer TO AMOUNT --key FILE, with the same file.',
  ]
}

function writeKeyFile(file: string, keys: KeyPair): void {
  try {
    writeSecretFile(file, `${keyLines(keys).join('\n')}\n`)
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

/** The message about a key pair in a file. It does not have the secret key. */
function fileLines(file: string, { publicKey }: KeyPair): string[] {
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
