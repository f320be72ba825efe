/** `newcut keygen`: an ed25519 key pair; the public key names the default account `k:<key>`. */
import { generateKeyPairSync } from 'node:crypto'
import { decodeBase64Url, encodeHex } from '../core/bytes.ts'

export interface KeyPair {
  /** 64 hex digits. */
  readonly publicKey: string
  /** 64 hex digits (the RFC 8032 seed). */
  readonly secretKey: string
}

export function generateKeys(): KeyPair {
  const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  return { publicKey: encodeHex(decodeBase64Url(x)), secretKey: encodeHex(decodeBase64Url(d)) }
}

/** The lines that are shown to people. */
export function keyLines({ publicKey, secretKey }: KeyPair): string[] {
  return [`public-key: ${publicKey}`, `secret-key: ${secretKey}`, `account: k:${publicKey}`]
}
