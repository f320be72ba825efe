/** Changes the gas that a node takes: the limit of its blocks, and the lowest price of a command. */
import type { GasRequest, GasState } from '#ground/schema/control-commands.ts'
import { type GasTerms, gasPriceOf } from '../../mempool/gas-terms.ts'
import type { Coordinator } from '../../work/coordinator.ts'
import { RequestRefused } from '../refusal.ts'

/** Maximum characters of a wrong price that a refusal repeats. */
const MAX_SHOWN = 80

/** Changes the terms. The next block follows them. Pending transactions stay. @throws RequestRefused */
export function changeGas(coordinator: Coordinator, { blockLimit, minPrice }: GasRequest): GasState {
  const { pools, drafts } = coordinator
  if (blockLimit === undefined && minPrice === undefined) {
    throw new RequestRefused(400, 'expected blockLimit, minPrice or both')
  }
  const { blockGas } = pools
  if (blockLimit !== undefined && blockLimit > blockGas) {
    throw new RequestRefused(400, `/blockLimit: ${blockLimit}: expected at most ${blockGas}, the limit of the network`)
  }
  const price = minPrice === undefined ? pools.gas.minPrice : gasPriceOf(String(minPrice))
  if (price === null) {
    const shown = String(minPrice).slice(0, MAX_SHOWN)
    throw new RequestRefused(400, `/minPrice: ${shown}: expected a multiple of 1e-12 above 0, such as 0.00000001`)
  }
  const hasOtherLimit = blockLimit !== undefined && blockLimit !== pools.gas.blockLimit
  pools.gas = { blockLimit: blockLimit ?? pools.gas.blockLimit, minPrice: price }
  // Blocks under construction have the limit with which they began.
  if (hasOtherLimit) {
    for (const chain of pools.chainIds) drafts.restart(chain)
    coordinator.renewWork()
  }
  return gasState(pools.gas)
}

export const gasState = ({ blockLimit, minPrice }: GasTerms): GasState => ({ blockLimit, minPrice: String(minPrice) })
