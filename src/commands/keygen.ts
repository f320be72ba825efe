/** `newcut keygen`: an ed25519 key pair; the public key names the default account `k:<key>`. */
import { generateKeyPairSync } from 'node:crypto'
import { stringify } from 'yaml'
import { printerTo, type Surroundings } from '../cli/program.ts'
import { decodeBase64Url, encodeHex } from '../core/bytes.ts'

export interface KeyPair {
  /** 64 hex digits. */
  readonly publicKey: string
  /** 64 hex digits (the RFC 8032 seed). */
  readonly secretKey: string
}

export async function runKeygen(json: boolean, { out }: Surroundings): Promise<number> {
  const print = printerTo(out)
  const keys = generateKeys()
  if (json) print(JSON.stringify({ ...keys, account: `k:${keys.publicKey}` }))
  else for (const line of keyLines(keys)) print(line)
  return 0
}

function generateKeys(): KeyPair {
  const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  return { publicKey: encodeHex(decodeBase64Url(x)), secretKey: encodeHex(decodeBase64Url(d)) }
}

/** A configuration file for `newcut mine`. Lines that are not options are comments. */
export function keyLines({ publicKey, secretKey }: KeyPair): string[] {
  return [
    // stringify quotes digits that YAML would take for a number.
    stringify({ 'public-key': publicKey }).trim(),
    `# account: k:${publicKey}`,
    `# secret-key: ${secretKey}`,
    '# Keep the secret key secret: whoever has it can spend what the account is paid. Mining needs only the public key.',
    '# To spend from it: save these lines as FILE; newcut transfer TO AMOUNT --key FILE',
    '# To mine for it: newcut mine --public-key KEY, or save these lines and give the file as --config FILE.',
  ]
}
