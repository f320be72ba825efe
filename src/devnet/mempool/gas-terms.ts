/** Gas limit of the blocks that a node makes, and the lowest gas price that it accepts. The owner may change both. */
import { Decimal } from '../../contracts/values/decimal.ts'
import { MAX_BLOCK_GAS } from '../../core/gas.ts'

/** Demands of a node on the gas of a command. */
export interface GasTerms {
  readonly blockLimit: number
  readonly minPrice: Decimal
}

/** Lowest gas price that live nodes accept: 10^-8. */
const USUAL_PRICE = new Decimal(1n, 8)

/** Terms of a node that begins, as those of live nodes. */
export const USUAL_TERMS: GasTerms = { blockLimit: MAX_BLOCK_GAS, minPrice: USUAL_PRICE }

/** Terms for commands in blocks: each node chooses its own lowest price. Nothing is below the lowest unit of coins. */
export const BLOCK_TERMS: GasTerms = { blockLimit: MAX_BLOCK_GAS, minPrice: new Decimal(1n, 12) }

/**
 * Reads a gas price.
 * @returns null for a text that is no multiple of 10^-12 above 0
 */
export function gasPriceOf(text: string): Decimal | null {
  const price = Decimal.parse(text)
  if (price === null || price.normalise().places > 12 || price.compare(BLOCK_TERMS.minPrice) < 0) return null
  return price.normalise()
}
