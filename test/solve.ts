/** A plain nonce search for tests, without kernel or thread. */
import { withNonce } from '../src/ground/chain/header.ts'
import { solves } from '../src/ground/chain/pow.ts'

/** The work with the first nonce of at least `from` that solves it. Its difficulty must be small. */
export function solve(work: Uint8Array, from = 0n): Uint8Array {
  for (let nonce = from; nonce < from + 1_000_000n; nonce++) {
    const solution = withNonce(work, nonce)
    if (solves(solution)) return solution
  }
  throw new Error('no solution among a million nonces')
}

/** The work with a nonce that does not solve it. */
export function miss(work: Uint8Array): Uint8Array {
  for (let nonce = 0n; ; nonce++) {
    const attempt = withNonce(work, nonce)
    if (!solves(attempt)) return attempt
  }
}
