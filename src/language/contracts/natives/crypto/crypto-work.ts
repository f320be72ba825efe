/** Prices of cryptography, and the work of natives whose price on the public network does not bound their time. */
import { integerCost } from '../../machine/gas/costs.ts'
import type { Arguments, NativeHost } from '../../machine/native.ts'
import { bitLength } from '../../values/bits.ts'

/** Larger integers count as work before they are reduced. */
const LARGE = 1n << 664n

/** Counts the work of the reduction of an integer to an element of a field. */
export function workReduction<H extends NativeHost>(args: Arguments<H>, n: bigint): void {
  if (n >= LARGE || n <= -LARGE) args.work(integerCost(bitLength(n)))
}

/** Milligas of a call by native, as on the public network (PROTOCOL.md E.5). */
export const CRYPTO_PRICES: readonly (readonly [name: string, price: number])[] = [
  ['hash-keccak256', 1_000],
  ['hash-poseidon', 124_000],
  ['poseidon-hash-hack-a-chain', 124_000],
  ['hyperlane-message-id', 2_000],
  ['hyperlane-encode-token-message', 2_000],
  ['hyperlane-decode-token-message', 2_000],
  ['verify-spv', 100_000],
]
