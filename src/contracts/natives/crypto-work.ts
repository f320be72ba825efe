/**
 * Bounds the time of natives whose price on the public network does not: declared work is charged as gas, in
 * proportion to other natives.
 */
import { integerCost } from '../machine/costs.ts'
import type { Arguments, Host } from '../machine/native.ts'
import { bitLength } from '../values/bits.ts'

/** Larger integers are charged before they are reduced. */
const LARGE = 1n << 664n

/** @param milligas work of the call: a millisecond of processor time has 75,000 or more */
export function chargeWork<H extends Host>(args: Arguments<H>, milligas: number): void {
  args.charge(milligas)
}

/** Charges for the reduction of an integer to an element of a field. */
export function chargeReduction<H extends Host>(args: Arguments<H>, n: bigint): void {
  if (n >= LARGE || n <= -LARGE) chargeWork(args, integerCost(bitLength(n)))
}

/** Milligas of a call by native, as on the public network. */
export const CRYPTO_PRICES: readonly (readonly [name: string, price: number])[] = [
  ['hash-keccak256', 1_000],
  ['hash-poseidon', 124_000],
  ['poseidon-hash-hack-a-chain', 124_000],
  ['hyperlane-message-id', 2_000],
  ['hyperlane-encode-token-message', 2_000],
  ['hyperlane-decode-token-message', 2_000],
  ['verify-spv', 100_000],
]
