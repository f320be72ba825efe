/** test/vectors/slh-dsa.json: commands that one key of SLH-DSA-SHA2-128s has signed. */
import { readFileSync } from 'node:fs'
import type { Signed } from './command.ts'

export interface SlhDsaVector {
  readonly name: string
  readonly cmd: string
  /** Hex. */
  readonly hash: string
  /** The signed bytes, in hex. */
  readonly framed: string
  /** base64url. */
  readonly signature: string
}

const read = () => JSON.parse(readFileSync(new URL('../vectors/slh-dsa.json', import.meta.url), 'utf8'))

/** `publicKey` in hex. */
export const { publicKey, tests } = read() as { readonly publicKey: string; readonly tests: readonly SlhDsaVector[] }

/** A transfer of 1.5 coins from the account of the key to sender00, on chain 0 of a development network. */
export const transfer = tests[1]
export const SCHEME = 'SLH-DSA-SHA2-128s'
/** Seconds: the creation time of {@link transfer}. */
export const SIGNED_AT = 1_756_650_000

/** The command of a vector as a client sends it. */
export const signedBy = ({ cmd, hash, signature }: SlhDsaVector): Signed => {
  return { cmd, hash: Buffer.from(hash, 'hex').toString('base64url'), sigs: [{ sig: signature }] }
}
