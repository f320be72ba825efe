/** Rules of the network that a node claims to belong to. */
import { knownNetwork } from '#ground/chain/known-networks.ts'
import { completeNetwork, type Network, type NetworkDefinition } from '#ground/chain/network.ts'
import { development } from '#ground/chain/network-data.ts'
import type { NodeHttpOptions } from './http.ts'
import type { CheckedNodeInfo } from './node-info.ts'

/** Networks beside those that newcut has files for. */
export type Networks = readonly NetworkDefinition[]

export interface NodeClientOptions extends NodeHttpOptions {
  /** Networks of the user's files. Default: none. */
  networks?: Networks
}

/** A network whose rules headers are checked against. */
export interface VerifiableNetwork {
  readonly network: Network
  /** Whether version code, genesis and difficulty rules are known. If not, only rules common to all networks apply. */
  readonly isKnown: boolean
}

/**
 * @param own networks of the user's files
 * @returns the network that a node claims to belong to, with a block delay of 30 s if it is unknown
 */
export function networkOfInfo({ info, graphHistory }: CheckedNodeInfo, own: Networks = []): VerifiableNetwork {
  const { nodeVersion: name, nodeBlockDelay } = info
  const definition = knownNetwork(name, own)
  const network = definition && completeNetwork(definition)
  if (network?.isPublic) return { network, isKnown: true }
  // Each node may run a development network with graphs and a block delay of its own.
  const described = { graphHistory, ...(nodeBlockDelay !== undefined && { blockDelay: BigInt(nodeBlockDelay) }) }
  if (network) return { network: { ...network, ...described }, isKnown: true }
  const forks = { ...development.forks, from: Number.POSITIVE_INFINITY }
  return { network: { ...development, ...definition, ...described, forks, name }, isKnown: false }
}
