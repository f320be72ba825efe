/**
 * Keys from a phrase, as wallets derive them. BIP-0039 makes a seed of the phrase, and SLIP-0010 Ed25519 keys of the
 * seed, at the path m/44'/626'/i'. SLIP-0044 has 626 as the coin type of the network.
 */
import { hmac } from '@noble/hashes/hmac.js'
import { pbkdf2 } from '@noble/hashes/pbkdf2.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { concatBytes } from '../base/bytes.ts'

const HARDENED = 0x8000_0000
const PURPOSE = 44
const COIN_TYPE = 626
const SEED_ROUNDS = 2048
const KEY_BYTES = 32

const encoder = new TextEncoder()

/** Seed of a phrase without a passphrase: 64 bytes. The words are not checked. */
export function seedOfPhrase(phrase: string): Uint8Array {
  const salt = encoder.encode('mnemonic')
  return pbkdf2(sha512, encoder.encode(phrase.normalize('NFKD')), salt, { c: SEED_ROUNDS, dkLen: 64 })
}

/** Secret Ed25519 key at m/44'/626'/index': 32 bytes. */
export function secretKeyAt(seed: Uint8Array, index: number): Uint8Array {
  return derivedKey(seed, [PURPOSE, COIN_TYPE, index])
}

/** Secret Ed25519 key at a path of hardened indexes (SLIP-0010). */
export function derivedKey(seed: Uint8Array, path: readonly number[]): Uint8Array {
  let node = hmac(sha512, encoder.encode('ed25519 seed'), seed)
  for (const index of path) {
    const child = new Uint8Array(4)
    new DataView(child.buffer).setUint32(0, index + HARDENED)
    node = hmac(sha512, node.slice(KEY_BYTES), concatBytes(new Uint8Array(1), node.slice(0, KEY_BYTES), child))
  }
  return node.slice(0, KEY_BYTES)
}
