/** Rewards of blocks by height (PROTOCOL.md E.4). All networks have one table, divided among their chains. */
import { graphAt, type Network } from './network.ts'
import { definitions } from './network-data.ts'

/** Blocks of a chain that one entry covers: a month of blocks every 30 seconds. */
const ENTRY_BLOCKS = 87_600n
/**
 * Rewards of all chains together, in units of 10^-5 coins, for the first five years. The table of the network covers
 * 120 years; on a development network the last entry here also covers all higher blocks.
 */
const REWARDS = [
  2304523, 2297878, 2291249, 2284644, 2278052, 2271485, 2264932, 2258402, 2251887, 2245395, 2238917, 2232462, 2226022,
  2219604, 2213201, 2206820, 2200454, 2194110, 2187780, 2181473, 2175179, 2168909, 2162651, 2156417, 2150195, 2143997,
  2137810, 2131649, 2125497, 2119372, 2113255, 2107165, 2101083, 2095029, 2088982, 2082962, 2076951, 2070965, 2064988,
  2059037, 2053095, 2047178, 2041270, 2035387, 2029513, 2023664, 2017824, 2012008, 2006203, 2000419, 1994648, 1988898,
  1983160, 1977442, 1971738, 1966053, 1960382, 1954729, 1949091, 1943471,
]
/** Height of the last block that an entry covers. */
export const LAST_ENTRY_HEIGHT = BigInt(REWARDS.length) * ENTRY_BLOCKS
/** Decimal places of an entry. */
export const REWARD_PLACES = 5
/** Beyond the entries, the table halves once in as many entries: 20 years. */
const HALVING_ENTRIES = 240

/**
 * Exact reward of all chains together at a height, in units of 10^-5 coins. The last entry covers all higher blocks.
 * @throws RangeError for genesis blocks
 */
export function rewardUnitsAt(height: bigint): bigint {
  const entry = entryOf(height)
  return BigInt(REWARDS[entry < REWARDS.length ? entry : REWARDS.length - 1])
}

/**
 * Expected reward of a block in coins. Up to height 5,256,000 it is the table of the network. Beyond, it is the curve of
 * that table, which differs from it by less than 0.1 % up to height 63,000,000.
 * @param chains number of chains of the network at that height
 * @throws RangeError for genesis blocks
 */
export function expectedReward(height: bigint, chains: number): number {
  const entry = entryOf(height)
  const units = entry < REWARDS.length ? REWARDS[entry] : REWARDS[0] * 0.5 ** (entry / HALVING_ENTRIES)
  return units / 10 ** REWARD_PLACES / chains
}

function entryOf(height: bigint): number {
  if (height < 1n) throw new RangeError(`block ${height} has no reward`)
  return Number((height - 1n) / ENTRY_BLOCKS)
}

/**
 * Number of chains at a height of the only public network with this version code.
 * @param code version code of the header
 * @returns null if there is none, or several
 */
export function publicChainsAt(code: number, height: bigint): number | null {
  const [network, ...others] = definitions.filter((each) => each.isPublic && each.code === code)
  if (network?.graphHistory === undefined || others.length > 0) return null
  return graphAt(network as Pick<Network, 'graphHistory'>, Number(height)).adjacents.length
}
