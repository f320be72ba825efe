/**
 * Networks: version codes, graphs by height, genesis constants and conditions of rules (PROTOCOL.md B.2, B.5, C, D). The
 * networks themselves are data: networks/*.yaml, and network-data.ts for the program.
 */
import type { CoinbaseModel, PaymentModel, RewardForecast } from './coinbase.ts'
import type { Condition, ForkRules } from './fork.ts'
import type { GasModel } from './gas.ts'
import type { Graph } from './graph.ts'

/** Conditions of the rules of headers. */
export interface HeaderRules {
  /** From here, a slow epoch does not adjust early. */
  readonly endOfEmergencyAdjustment: Condition
  /** From here, target and epoch start depend on the parent's creation time instead of the block's own. */
  readonly parentTime: Condition
  /** From here, the target is the mean over the parent and its adjacent parents. */
  readonly meanTarget: Condition
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
  /** Whether nodes may choose another target for the genesis blocks. */
  readonly takesAnyGenesisTarget: boolean
  /** Payload hash of the genesis block of a chain, base64url, or null if unknown. */
  readonly genesisPayload: (chain: number) => string | null
  /** Intended time between blocks of one chain, microseconds. */
  readonly blockDelay: bigint
  /** Blocks per epoch, or null if targets never change. */
  readonly window: number | null
  /** True if the first epoch starts at the first mined block instead of the old genesis; for development networks. */
  readonly fakeFirstEpochStart: boolean
  readonly rules: HeaderRules
  /** Rules for forks by vote. */
  readonly forks: ForkRules
  /** Whether it serves everybody: it always has proof of work, and its rules are the same on all nodes. */
  readonly isPublic: boolean
  /** Gas limit of a block, for all its transactions together. */
  readonly blockGas: number
  /** Gas models for the sizes of commands, in the order of their conditions. */
  readonly gasModels: readonly { readonly from: Condition; readonly model: GasModel }[]
  /**
   * Maximum distance, in blocks, from the parent of a new block down to the block in which a proof ends; null for no
   * limit. Each condition is about the parent. A parent below all conditions has no limit.
   */
  readonly spvWindows: readonly { readonly from: Condition; readonly blocks: number | null }[]
  /** Verifiers of contract proofs, in the order of their conditions. Without it, all that newcut has. */
  readonly verifiers?: readonly { readonly from: Condition; readonly names: readonly VerifierName[] }[] | undefined
  /** From here, code follows language release 5.4.1. Without it, the node release decides. */
  readonly language541?: Condition | undefined
  /** Name of the coin, such as KDA. */
  readonly symbol: string
  /** How the reward of a block is known. */
  readonly payment: PaymentModel
  /** How nodes run coinbases. */
  readonly coinbase: CoinbaseModel
  /** How the reward of future blocks is known. */
  readonly forecast: RewardForecast
}

/** The verifiers that newcut has. */
export const verifierNames = ['hyperlane_v3_message', 'allow', 'signed_list'] as const
export type VerifierName = (typeof verifierNames)[number]

/** A network as its file has it. The rest comes from nodes, or is unknown. */
export type NetworkDefinition = Pick<
  Network,
  | 'name'
  | 'isPublic'
  | 'takesAnyGenesisTarget'
  | 'genesisPayload'
  | 'gasModels'
  | 'spvWindows'
  | 'symbol'
  | 'payment'
  | 'coinbase'
  | 'forecast'
> &
  Partial<Network>

/** The network of a definition without gaps, or null. */
export function completeNetwork(definition: NetworkDefinition): Network | null {
  return NEEDED.every((name) => definition[name] !== undefined) ? (definition as Network) : null
}

/** Fields that headers cannot be verified without. */
const NEEDED = [
  'code',
  'graphHistory',
  'genesisTime',
  'genesisTarget',
  'blockDelay',
  'window',
  'fakeFirstEpochStart',
  'rules',
  'forks',
  'blockGas',
] as const

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
export function genesisHeight(network: Pick<Network, 'name' | 'graphHistory'>, chain: number): number {
  const entry = network.graphHistory.find(({ graph }) => chain < graph.adjacents.length)
  if (entry === undefined) throw new RangeError(`network ${network.name} has no chain ${chain}`)
  return entry.from
}
