/**
 * Schemes of SLH-DSA (FIPS 205) with SHA-2, as KIP-0041 proposes them for the next fork of live networks. They are a
 * preview: no release of the live node has them.
 */

interface SlhDsaScheme {
  /** Length of a public key in bytes: twice the security parameter n. */
  readonly keyBytes: number
  readonly signatureBytes: number
  /** Price of a signer, as KIP-0041 proposes it. */
  readonly gas: number
  /** Name in texts of live nodes. */
  readonly constructorName: string
}

/** The `scheme` of a signer -> the scheme. */
export const slhDsaSchemes: ReadonlyMap<string, SlhDsaScheme> = new Map([
  ['SLH-DSA-SHA2-128s', { keyBytes: 32, signatureBytes: 7856, gas: 816, constructorName: 'SlhDsaSha128s' }],
  ['SLH-DSA-SHA2-192s', { keyBytes: 48, signatureBytes: 16_224, gas: 1584, constructorName: 'SlhDsaSha192s' }],
  ['SLH-DSA-SHA2-256s', { keyBytes: 64, signatureBytes: 29_792, gas: 3992, constructorName: 'SlhDsaSha256s' }],
])

/** Prefix of a key in keysets. The `pubKey` of a signer has none. */
export const SLH_DSA_KEY_PREFIX = 'q'
