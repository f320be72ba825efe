/** Gas limit of the blocks that a node makes, and the lowest gas price that it accepts. The owner may change both. */

import type { Network } from '#ground/chain/network.ts'
import { Decimal } from '#language/contracts/values/decimal.ts'

/** Demands of a node on the gas of a command. */
export interface GasTerms {
  readonly blockLimit: number
  readonly minPrice: Decimal
}

/** Lowest gas price that live nodes accept: 10^-8. */
const DEFAULT_MIN_PRICE = new Decimal(1n, 8)

/** Lowest unit of coins. */
const LOWEST_PRICE = new Decimal(1n, 12)

/** Terms of a node that begins, as those of live nodes. */
export const defaultTerms = ({ blockGas }: Pick<Network, 'blockGas'>): GasTerms => {
  return { blockLimit: blockGas, minPrice: DEFAULT_MIN_PRICE }
}

/** Terms for commands in blocks: each node chooses its own lowest price. */
export const blockTerms = ({ blockGas }: Pick<Network, 'blockGas'>): GasTerms => {
  return { blockLimit: blockGas, minPrice: LOWEST_PRICE }
}

/**
 * Reads a gas price.
 * @returns null for a text that is not a multiple of 10^-12 above 0
 */
export function gasPriceOf(text: string): Decimal | null {
  const price = Decimal.parse(text)
  if (price === null || price.normalise().places > 12 || price.compare(LOWEST_PRICE) < 0) return null
  return price.normalise()
}
