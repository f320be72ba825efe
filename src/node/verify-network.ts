/** The rules of the network that a node says it belongs to. */
import { development, mainnet01, type Network, recapDevelopment, testnet04, testnet06 } from '../core/network.ts'
import type { JudgedInfo } from './node-info.ts'

/** A network to check headers by. */
export interface VerifiableNetwork {
  readonly network: Network
  /** Whether version code, genesis and difficulty rules are known; else only what holds on every network is. */
  readonly isKnown: boolean
}

const PUBLIC: readonly Network[] = [mainnet01, testnet04, testnet06]
/** These keep their rules, but each node may run them with graphs and a block delay of its own. */
const DEVELOPMENT: readonly Network[] = [development, recapDevelopment]

/** Whether a network is one that everybody mines on: those have proof of work always. */
export function isPublic({ name }: Network): boolean {
  return PUBLIC.some((network) => network.name === name)
}

/** The network that a node says it belongs to. Its block delay is 30 s if the node does not tell it and nobody knows. */
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
