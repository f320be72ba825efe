/** Rules of the network that a node claims to belong to. */
import { development, mainnet01, type Network, recapDevelopment, testnet04, testnet06 } from '../core/network.ts'
import type { JudgedInfo } from './node-info.ts'

/** A network whose rules headers are checked against. */
export interface VerifiableNetwork {
  readonly network: Network
  /** Whether version code, genesis and difficulty rules are known. If not, only rules common to all networks apply. */
  readonly isKnown: boolean
}

const PUBLIC: readonly Network[] = [mainnet01, testnet04, testnet06]
/** Their rules are fixed, but each node may run them with graphs and a block delay of its own. */
const DEVELOPMENT: readonly Network[] = [development, recapDevelopment]

/** Whether a network is public: those always have proof of work. */
export function isPublic({ name }: Network): boolean {
  return PUBLIC.some((network) => network.name === name)
}

/** @returns the network that a node claims to belong to, with a block delay of 30 s if it is unknown */
export function networkOf({ info, graphHistory }: JudgedInfo): VerifiableNetwork {
  const named = (network: Network) => network.name === info.nodeVersion
  const fixed = PUBLIC.find(named)
  if (fixed !== undefined) return { network: fixed, isKnown: true }
  const { nodeBlockDelay } = info
  const own = { graphHistory, ...(nodeBlockDelay !== undefined && { blockDelay: BigInt(nodeBlockDelay) }) }
  const known = DEVELOPMENT.find(named)
  if (known !== undefined) return { network: { ...known, ...own }, isKnown: true }
  const forks = { ...development.forks, from: Number.POSITIVE_INFINITY }
  return { network: { ...development, ...own, forks, name: info.nodeVersion }, isKnown: false }
}
