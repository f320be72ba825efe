/** `newcut keygen [FILE]`: an ed25519 key pair; the public key names the default account `k:<key>`. */
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { publicKeyOf, SECRET_KEY_BYTES, secretKeyOf } from '#ground/base/ed25519.ts'
import { operatingError } from '#ground/base/errors.ts'
import { modeForOthers, writeSecretFile } from '#ground/platform/secret-file.ts'
import { commandErrors } from './input/errors.ts'

/** A key that YAML would read as a number. */
const NUMBER = /^\d+(e\d+)?$/

const EXISTING = {
  problem: 'the file exists (EEXIST), and keygen never overwrites a file',
  hint: 'it may hold a key: name another file, or move this one away',
}

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

/** @throws NewcutError BAD_OUTPUT for a file that exists or cannot be written. No key pair is kept then. */
export async function runKeygen({ file, json }: KeygenOptions, { out, err }: CommandContext): Promise<number> {
  const print = printerTo(out)
  const keys = generateKeys()
  if (file !== undefined) {
    await writeKeyFile(file, keyLines(keys))
    if (json) print(JSON.stringify({ ...publicParts(keys), file: resolve(file) }))
    else {
      const { keyFileLines } = await import('./results/key-lines.ts')
      for (const line of keyFileLines(file, keys.publicKey)) print(line)
    }
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

/**
 * Writes these lines to a new file.
 * @throws NewcutError BAD_OUTPUT for a file that exists or cannot be written
 */
async function writeKeyFile(file: string, lines: readonly string[]): Promise<void> {
  try {
    writeSecretFile(file, `${lines.join('\n')}\n`)
  } catch (error) {
    const cause = error as NodeJS.ErrnoException
    const { outputProblem } = await import('#faces/cli/output-file.ts')
    const { problem, hint } = cause.code === 'EEXIST' ? EXISTING : outputProblem(file, cause)
    throw operatingError(commandErrors.unwritableOutput, { file, problem, advice: hint }, cause)
  }
}

/** Without `generateKeyPair`: in Node 20, an export of its key hangs if the garbage collector runs meanwhile. */
function generateKeys(): KeyPair {
  const seed = randomBytes(SECRET_KEY_BYTES)
  return { publicKey: publicKeyOf(secretKeyOf(seed)), secretKey: seed.toString('hex') }
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
