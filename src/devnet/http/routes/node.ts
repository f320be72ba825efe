/** /health-check, /info and /config (PROTOCOL.md E.1). */
import { stringifyJson } from '#ground/base/json.ts'
import type { Graph } from '#ground/chain/graph.ts'
import { genesisHeight, graphAt, type Network } from '#ground/chain/network.ts'
import type { NodeConfig, NodeInfo } from '#ground/schema/bodies.ts'
import { JSON_TYPE, TEXT } from '#ground/schema/operation.ts'
import { operations } from '#ground/schema/operations.ts'
import type { ReleaseRules } from '../../rules/releases.ts'
import { sendJson } from '../app.ts'
import type { Router } from '../router.ts'

interface NodeRouteOptions {
  /** The current network. */
  readonly network: () => Network
  readonly packageVersion: string
  readonly release: ReleaseRules
  /** Must hold no secrets. */
  readonly config: () => NodeConfig
}

/** A development node has no planned end of service. */
const SERVICE_DATE = '2099-12-31T00:00:00Z'

export function addNodeRoutes(router: Router, options: NodeRouteOptions): void {
  const { network, packageVersion, release, config } = options
  router.serve(operations.healthCheck, (_call, reply) => reply.type(TEXT).send('Health check OK.\n'))
  router.serve(operations.nodeInfo, (_call, reply) =>
    sendJson(reply, JSON_TYPE, JSON.stringify(nodeInfo(network(), packageVersion, release))),
  )
  router.serve(operations.config, (_call, reply) => sendJson(reply, JSON_TYPE, stringifyJson(config())))
}

function nodeInfo(network: Network, packageVersion: string, release: ReleaseRules): NodeInfo {
  const newestFirst = network.graphHistory.toReversed()
  const chains = [...graphAt(network, newestFirst[0].from).adjacents.keys()]
  const history = newestFirst.map(({ from, graph }): [number, [number, number[]][]] => [from, adjacencyList(graph)])
  return {
    nodeVersion: network.name,
    nodePackageVersion: packageVersion,
    nodeApiVersion: '0.0',
    nodeChains: chains.map(String),
    nodeNumberOfChains: chains.length,
    nodeGraphHistory: history,
    nodeLatestBehaviorHeight: release.latestBehaviorHeight,
    nodeGenesisHeights: chains.map((chain) => [String(chain), genesisHeight(network, chain)]),
    nodeHistoricalChains: history,
    nodeBlockDelay: Number(network.blockDelay),
    ...(release.hasServiceDate && { nodeServiceDate: SERVICE_DATE }),
  }
}

function adjacencyList(graph: Graph): [number, number[]][] {
  return graph.adjacents.map((adjacents, chain) => [chain, [...adjacents]])
}
