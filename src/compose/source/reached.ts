/** A source of work that was reached, and what is known of it. */
import { NewcutError } from '../../core/errors.ts'
import type { Devnet } from '../../devnet/devnet.ts'
import type { PassthroughOptions } from '../../engine/passthrough/passthrough.ts'
import type { Miner } from '../../mine/miner.ts'
import type { NodeClient } from '../../node/client.ts'
import type { ChainChoice } from '../../source/chain-choice.ts'
import type { Source } from '../../source/source.ts'
import type { PaidAccount } from '../payee.ts'
import type { FleetShares } from '../search/fleet-shares.ts'

/** How long a node or pool of higher priority has to be fit, unless the setup says otherwise. */
export const FAILBACK_MS = 60_000

/** The nodes behind a source. Pools and leaders of fleets do not tell theirs. */
export interface NodeAccess {
  /** That of highest priority among those that answered at the start. */
  readonly client: NodeClient
  /** All, the one that gives work now first. */
  readonly clients: () => readonly NodeClient[]
  /** Asks the node of the present work for a payload, and then the others. */
  readonly payloads: Pick<NodeClient, 'payloadOutputs'>
  readonly account: PaidAccount
  /** How long no node answers, or gives work that was asked for; 0: neither. */
  readonly silentMs: () => number
  /** The network of this process; null: the nodes are elsewhere. */
  readonly embedded: Devnet | null
}

/** Sessions with a pool for rigs that know work of this length. */
export type RigLinesOf = (workBytes: number) => PassthroughOptions['lines']

export interface ReachedSource {
  readonly source: Source
  /** null: there are no chains to choose from. */
  readonly choice: ChainChoice | null
  /** Name of the network; pools do not tell it. */
  readonly network: string
  /** Who is paid: an account, or the user as the pool knows it. */
  readonly payee: string
  /** null: pools or the leader of a fleet give the work. */
  readonly node: NodeAccess | null
  /** Sessions with the pool for rigs; undefined: rigs search the work of the miner. */
  readonly rigLines?: RigLinesOf | undefined
  /** Where a relay keeps the shares of its rigs; undefined: this is none. */
  readonly fleetShares?: FleetShares | undefined
  /** Ties it to the miner, before that runs. */
  readonly attach: (miner: Miner) => void
  readonly close: () => Promise<void>
}

/** Throws NewcutError BAD_OPTION for chains that the network does not have. */
export function checkChains(chains: readonly number[] | undefined, { info, http }: NodeClient): void {
  const has = info.nodeChains.map(Number)
  const unknown = chains?.filter((chain) => !has.includes(chain)) ?? []
  if (unknown.length === 0) return
  const message = `--chains: ${info.nodeVersion} at ${http.baseUrl} has no chain ${unknown.join(', ')}`
  throw new NewcutError('BAD_OPTION', message, { hint: `its chains are ${has[0]} to ${has.at(-1)}` })
}
