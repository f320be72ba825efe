/** A connected source of work and its properties. */

import type { NodeClient } from '#client/node/client.ts'
import type { EmbeddedNode } from '#devnet/devnet.ts'
import type { ServedPart } from '#faces/api/server.ts'
import type { CurrentToken } from '#faces/api/token.ts'
import { operatingError } from '#ground/base/errors.ts'
import type { PassthroughOptions } from '#mining/engine/passthrough/passthrough.ts'
import type { Miner } from '#mining/mine/miner.ts'
import type { ChainChoice, Source } from '#mining/source/source.ts'
import { composeErrors } from '../errors.ts'
import type { PaidAccount } from '../payee.ts'
import type { FleetShares } from '../search/fleet-shares.ts'

/** Default failback time: how long a higher-priority node or pool must be healthy before the miner returns to it. */
export const FAILBACK_MS = 60_000

/** The nodes of a source. Pools and fleet leaders do not reveal theirs. */
export interface NodeAccess {
  /** Client of the highest-priority node among those that answered at the start. */
  readonly client: NodeClient
  /** Clients of all nodes, the node of the current work first. */
  readonly clients: () => readonly NodeClient[]
  /** Requests a payload from the node of the current work, then from the others. */
  readonly payloads: Pick<NodeClient, 'payloadOutputs'>
  readonly account: PaidAccount
  /** How long no node has answered or given requested work, in milliseconds; 0 if all is well. */
  readonly silentMs: () => number
  /** The embedded network of this process, or null. */
  readonly embedded: EmbeddedNode | null
}

/** Creates pool sessions for rigs that search work of this length. */
export type RigLinesOf = (workBytes: number) => PassthroughOptions['lines']

export interface ConnectedSource {
  readonly source: Source
  /** The choice of chains, or null if the source has none. */
  readonly choice: ChainChoice | null
  /** Name of the network; `pool` for pools. */
  readonly network: string
  /** The paid account, or the user name at the pool. */
  readonly payee: string
  /** The nodes, or null for pools and fleets. */
  readonly node: NodeAccess | null
  /** Pool sessions for rigs. Without them, rigs search the miner's own work. */
  readonly rigLines?: RigLinesOf | undefined
  /** Serves orders for blocks; undefined unless the source makes them on demand. */
  readonly orders?: ((token: CurrentToken) => readonly ServedPart[]) | undefined
  /** Where a relay keeps the shares of its rigs. */
  readonly fleetShares?: FleetShares | undefined
  /** Connects the source to the miner, before the miner runs. */
  readonly attach: (miner: Miner) => void
  readonly close: () => Promise<void>
}

/** @throws NewcutError BAD_OPTION for chains that the network lacks */
export function checkChains(chains: readonly number[] | undefined, { info, http }: NodeClient): void {
  const has = info.nodeChains.map(Number)
  const unknown = chains?.filter((chain) => !has.includes(chain)) ?? []
  if (unknown.length === 0) return
  throw operatingError(composeErrors.unknownChain, {
    network: info.nodeVersion,
    url: http.baseUrl,
    chains: unknown.join(', '),
    first: has[0],
    last: has[has.length - 1],
  })
}
