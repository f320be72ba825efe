/**
 * Networks: version codes, graphs by height, genesis constants and activation heights of rules (PROTOCOL.md B.2, B.5,
 * C, D).
 */
import type { ForkRules } from './fork.ts'
import { type Graph, graphs } from './graph.ts'
import { MAX_TARGET } from './target.ts'

/** Activation heights of rules. */
export interface RuleHeights {
  /** From here, a slow epoch does not adjust early. */
  readonly endOfEmergencyAdjustment: number
  /** From here, target and epoch start depend on the parent's creation time instead of the block's own. */
  readonly parentTime: number
  /** From here, the target is the mean over the parent and its adjacent parents. */
  readonly meanTarget: number
}

/** Whether a value can be the name of a network: a segment of URLs and of paths of files. */
export function isNetworkName(value: unknown): value is string {
  return typeof value === 'string' && /^[a-zA-Z0-9][\w.-]{0,63}$/.test(value)
}

/** Parameters of a network's rules. */
export interface Network {
  /** Name in paths and JSON: `development`, `mainnet01`, ... */
  readonly name: string
  /** Version code in headers, u32. */
  readonly code: number
  /** Graphs by start height, ascending. */
  readonly graphHistory: readonly { readonly from: number; readonly graph: Graph }[]
  /** Creation time and epoch start of all genesis blocks, microseconds. */
  readonly genesisTime: bigint
  /** Target of the genesis block of a chain. */
  readonly genesisTarget: (chain: number) => bigint
  /** Payload hash of the genesis block of a chain, base64url, or null if unknown. */
  readonly genesisPayload: (chain: number) => string | null
  /** Intended time between blocks of one chain, microseconds. */
  readonly blockDelay: bigint
  /** Blocks per epoch, or null if targets never change. */
  readonly window: number | null
  /** True if the first epoch starts at the first mined block instead of the old genesis; for development networks. */
  readonly fakeFirstEpochStart: boolean
  readonly rules: RuleHeights
  /** Rules for forks by vote. */
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

/** Network name of a version code; unnamed codes are formatted as `0x` and eight hex digits. */
export function versionName(code: number): string {
  return versionNames.get(code) ?? `0x${code.toString(16).padStart(8, '0')}`
}

/**
 * Version code of a name as `versionName` writes it.
 * @returns undefined for other names
 */
export function versionCode(name: string): number | undefined {
  if (/^0x[0-9a-f]{8}$/.test(name)) return Number(name)
  return Object.hasOwn(versionCodes, name) ? versionCodes[name] : undefined
}

const FROM_GENESIS: RuleHeights = { endOfEmergencyAdjustment: 0, parentTime: 0, meanTarget: 0 }
/**
 * Fork rules of node release 3.2. Networks differ only in the highest known fork, and mainnet01 in the first height.
 */
const forksFromGenesis = (highestKnown: number): ForkRules => ({ from: 0, castingBlocks: 14_280, highestKnown })
const BLOCK_DELAY_US = 30_000_000n
const WINDOW = 120
/** 2019-07-17T18:28:37.613832Z */
const TEST_GENESIS_US = 1_563_388_117_613_832n

const petersenThenTwenty = (from: number) => [
  { from: 0, graph: graphs.petersen },
  { from, graph: graphs.twenty },
]

/** The main network: 10 chains, 20 from height 852,054. */
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

/** The former test network: 10 chains, 20 from height 332,604. It has no bootstrap nodes. */
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

/** The test network, started in February 2026: 20 chains. */
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

/** A development network that replays the history of the main network in its first 60 heights. */
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

/** The development network. The embedded node runs it with its own graph, block delay and initial difficulty. */
export const development: Network = {
  ...recapDevelopment,
  name: 'development',
  code: versionCodes.development,
  graphHistory: [{ from: 0, graph: graphs.twenty }],
  genesisTarget: () => MAX_TARGET / 100_000n,
  // The embedded node has its own genesis contracts.
  genesisPayload: () => null,
  rules: FROM_GENESIS,
  forks: forksFromGenesis(1),
}

/** The graph at a height. */
export function graphAt(network: Pick<Network, 'graphHistory'>, height: number): Graph {
  let current = network.graphHistory[0].graph
  for (const { from, graph } of network.graphHistory) if (height >= from) current = graph
  return current
}

/**
 * Height of a chain's genesis block: the start of the first graph that contains the chain.
 * @throws RangeError if there is no such chain
 */
export function genesisHeight(network: Network, chain: number): number {
  const entry = network.graphHistory.find(({ graph }) => chain < graph.adjacents.length)
  if (entry === undefined) throw new RangeError(`network ${network.name} has no chain ${chain}`)
  return entry.from
}
