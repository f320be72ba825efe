/**
 * Networks: version codes, graphs by height, genesis constants, and the heights at which rules changed
 * (PROTOCOL.md B.2, B.5, C, D).
 */
import type { ForkRules } from './fork.ts'
import { type Graph, graphs } from './graph.ts'
import { MAX_TARGET } from './target.ts'

/** Heights from which a rule holds. */
export interface RuleHeights {
  /** From here a slow epoch no longer adjusts early. */
  readonly endOfEmergencyAdjustment: number
  /** From here target and epoch start depend on the parent's creation time, no longer on the block's own. */
  readonly parentTime: number
  /** From here the target is the mean over the parent and its adjacent parents. */
  readonly meanTarget: number
}

/** What the rules of a network depend on. */
export interface Network {
  /** Name in paths and JSON: `development`, `mainnet01`, ... */
  readonly name: string
  /** Version code in headers, u32. */
  readonly code: number
  /** Graphs by the height they begin at, ascending. */
  readonly graphHistory: readonly { readonly from: number; readonly graph: Graph }[]
  /** Creation time and epoch start of all genesis blocks, microseconds. */
  readonly genesisTime: bigint
  /** Target of the genesis block of a chain. */
  readonly genesisTarget: (chain: number) => bigint
  /** Payload hash of the genesis block of a chain, base64url; null: not known here. */
  readonly genesisPayload: (chain: number) => string | null
  /** Intended time between blocks of one chain, microseconds. */
  readonly blockDelay: bigint
  /** Blocks in an epoch; null: targets never change. */
  readonly window: number | null
  /** A development network's first epoch starts at its first mined block, not at its old genesis. */
  readonly fakeFirstEpochStart: boolean
  readonly rules: RuleHeights
  /** How the network adopts forks by vote. */
  readonly forks: ForkRules
}

/** Version codes in headers by network name (PROTOCOL.md B.2). */
const versionCodes: Readonly<Record<string, number>> = {
  'recap-development': 0x01,
  development: 0x02,
  mainnet01: 0x05,
  testnet04: 0x07,
  testnet06: 0x08,
  testnet05: 0x09,
  'evm-testnet': 0x0a,
  'evm-development': 0x0b,
  'evm-development-pair': 0x1000b,
  'evm-development-singleton': 0x1000c,
}
const versionNames = new Map(Object.entries(versionCodes).map(([name, code]) => [code, name]))

/** The network name for a version code; a code without a name reads `0x` and eight hex digits. */
export function versionName(code: number): string {
  return versionNames.get(code) ?? `0x${code.toString(16).padStart(8, '0')}`
}

/** The version code of a name as versionName() writes it; undefined for others. */
export function versionCode(name: string): number | undefined {
  if (/^0x[0-9a-f]{8}$/.test(name)) return Number(name)
  return Object.hasOwn(versionCodes, name) ? versionCodes[name] : undefined
}

const FROM_GENESIS: RuleHeights = { endOfEmergencyAdjustment: 0, parentTime: 0, meanTarget: 0 }
/** Of node release 3.2, in which networks differ in what is known only. */
const forksFromGenesis = (highestKnown: number): ForkRules => ({ from: 0, castingBlocks: 14_280, highestKnown })
const BLOCK_DELAY_US = 30_000_000n
const WINDOW = 120
/** 2019-07-17T18:28:37.613832Z */
const TEST_GENESIS_US = 1_563_388_117_613_832n

const petersenThenTwenty = (from: number) => [
  { from: 0, graph: graphs.petersen },
  { from, graph: graphs.twenty },
]

/** The main network: 10 chains, 20 from height 852,054 on. */
export const mainnet01: Network = {
  name: 'mainnet01',
  code: versionCodes.mainnet01,
  graphHistory: petersenThenTwenty(852_054),
  genesisTime: 1_572_393_660_000_000n, // 2019-10-30T00:01:00Z
  genesisTarget: (chain) =>
    chain < 10 ? MAX_TARGET : 0x000000000000cb73de4be95ba21db5b9178dd85974c194e3ee05717dd8afa830n,
  genesisPayload: () => null,
  blockDelay: BLOCK_DELAY_US,
  window: WINDOW,
  fakeFirstEpochStart: false,
  rules: {
    endOfEmergencyAdjustment: 80_000,
    parentTime: 452_820,
    meanTarget: 771_414,
  },
  forks: { ...forksFromGenesis(1), from: 530_500 },
}

/** The test network of before: 10 chains, 20 from height 332,604 on. It has no nodes to begin with any more. */
export const testnet04: Network = {
  ...mainnet01,
  name: 'testnet04',
  code: versionCodes.testnet04,
  graphHistory: petersenThenTwenty(332_604),
  genesisTime: TEST_GENESIS_US,
  genesisTarget: (chain) =>
    chain < 10 ? MAX_TARGET : 0x000000001b9bf15be43824bae4c4f17722572883f7b53ed2e8c6ba9596249235n,
  rules: { ...FROM_GENESIS, meanTarget: 318_204 },
  forks: forksFromGenesis(0),
}

/** The test network, since February 2026: 20 chains. */
export const testnet06: Network = {
  ...mainnet01,
  name: 'testnet06',
  code: versionCodes.testnet06,
  graphHistory: [{ from: 0, graph: graphs.twenty }],
  genesisTime: 1_771_229_700_000_000n, // 2026-02-16T08:15:00Z
  genesisTarget: () => MAX_TARGET / 100_000n,
  genesisPayload: (chain) =>
    chain === 0 ? 'EyMMEitzZjPXEtL8cVgEgiN4w48CBBx0wMWZGQDretw' : 'eq3MSmd5bkjQXSqibeEjWvL2_AZqwwipPEWOTMl0FkY',
  rules: { ...FROM_GENESIS, meanTarget: 13 },
  forks: forksFromGenesis(1),
}

/** A development network that goes through the history of the main network in its first 60 heights. */
export const recapDevelopment: Network = {
  ...mainnet01,
  name: 'recap-development',
  code: versionCodes['recap-development'],
  graphHistory: petersenThenTwenty(60),
  genesisTime: TEST_GENESIS_US,
  genesisTarget: (chain) =>
    chain < 10 ? MAX_TARGET / 100_000n : 0x0000088f99632cadf39b0db7655be62cb7dbc84ebbd9a90e5b5756d3e7d9196cn,
  genesisPayload: (chain) => {
    if (chain === 0) return '5TWTF5R6Vc85vWHqcklTY91ljkV6mJ1wYfDJShooTCw'
    return chain < 10 ? 'yZ6Syxl34TTrGGKxVHInV0S29BH8v-C8VZTbJr2eK2k' : 'OXFBWONFKY7fTY4MH3GaOOELd_cPCMn9GpIOPBYMsvM'
  },
  fakeFirstEpochStart: true,
  rules: { ...FROM_GENESIS, meanTarget: 13 },
  forks: forksFromGenesis(0),
}

/** The development network; the embedded node runs it with its own graph, block delay and first difficulty. */
export const development: Network = {
  ...recapDevelopment,
  name: 'development',
  code: versionCodes.development,
  graphHistory: [{ from: 0, graph: graphs.twenty }],
  genesisTarget: () => MAX_TARGET / 100_000n,
  // The embedded node begins with contracts of its own.
  genesisPayload: () => null,
  rules: FROM_GENESIS,
  forks: forksFromGenesis(1),
}

/** The graph in force at a height. */
export function graphAt(network: Pick<Network, 'graphHistory'>, height: number): Graph {
  let current = network.graphHistory[0].graph
  for (const { from, graph } of network.graphHistory) if (height >= from) current = graph
  return current
}

/** Height of the genesis block of a chain: where the first graph that has the chain begins. */
export function genesisHeight(network: Network, chain: number): number {
  const entry = network.graphHistory.find(({ graph }) => chain < graph.adjacents.length)
  if (entry === undefined) throw new RangeError(`network ${network.name} has no chain ${chain}`)
  return entry.from
}
