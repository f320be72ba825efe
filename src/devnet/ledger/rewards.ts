/** Block reward: a table of the network by height, divided among its chains (PROTOCOL.md E.4). */
import { Decimal } from '../../contracts/values/decimal.ts'
import { COIN_PLACES } from './gas.ts'

/** Blocks of a chain that one entry covers: a month of blocks every 30 seconds. */
const ENTRY_BLOCKS = 87_600n
/**
 * Rewards of all chains together, in units of 10^-5 coins, for the first five years. The table of the network covers
 * 120 years; on a development network the last entry here also covers all higher blocks.
 */
const REWARDS = [
  ...[2304523, 2297878, 2291249, 2284644, 2278052, 2271485, 2264932, 2258402, 2251887, 2245395, 2238917, 2232462],
  ...[2226022, 2219604, 2213201, 2206820, 2200454, 2194110, 2187780, 2181473, 2175179, 2168909, 2162651, 2156417],
  ...[2150195, 2143997, 2137810, 2131649, 2125497, 2119372, 2113255, 2107165, 2101083, 2095029, 2088982, 2082962],
  ...[2076951, 2070965, 2064988, 2059037, 2053095, 2047178, 2041270, 2035387, 2029513, 2023664, 2017824, 2012008],
  ...[2006203, 2000419, 1994648, 1988898, 1983160, 1977442, 1971738, 1966053, 1960382, 1954729, 1949091, 1943471],
]
const REWARD_PLACES = 5

/** Reward in coins of a block at this height of one of `chains` chains. Throws RangeError for genesis blocks. */
export function rewardAt(height: bigint, chains: number): Decimal {
  if (height < 1n) throw new RangeError(`block ${height} has no reward`)
  const entry = (height - 1n) / ENTRY_BLOCKS
  const mantissa = REWARDS[entry < REWARDS.length ? Number(entry) : REWARDS.length - 1]
  const all = new Decimal(BigInt(mantissa), REWARD_PLACES)
  return all
    .div(Decimal.of(BigInt(chains)))
    .round(COIN_PLACES)
    .normalise()
}
