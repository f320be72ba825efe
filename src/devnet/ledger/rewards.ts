/** Block reward: the table of the network by height, divided among its chains (PROTOCOL.md E.4). */
import { Decimal } from '../../contracts/values/decimal.ts'
import { REWARD_PLACES, rewardUnitsAt } from '../../core/reward.ts'
import { COIN_PLACES } from './gas.ts'

/** Reward in coins of a block at this height of one of `chains` chains. Throws RangeError for genesis blocks. */
export function rewardAt(height: bigint, chains: number): Decimal {
  const all = new Decimal(rewardUnitsAt(height), REWARD_PLACES)
  return all
    .div(Decimal.of(BigInt(chains)))
    .round(COIN_PLACES)
    .normalise()
}
