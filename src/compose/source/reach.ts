/** Where work comes from, nodes or pools, and what is known of that place. */

import { randomUUID } from 'node:crypto'
import { NewcutError } from '../../core/errors.ts'
import type { LinkSetup } from '../../fleet/link.ts'
import type { NodeClient } from '../../node/client.ts'
import { systemClock } from '../../platform/clock.ts'
import { packageVersion } from '../../platform/version.ts'
import type { ChainChoice } from '../../source/chain-choice.ts'
import type { FleetRigTies } from '../../source/fleet/fleet-source.ts'
import type { PoolAddress } from '../../source/pool/address.ts'
import type { PoolTrust } from '../../source/pool/connection.ts'
import type { Source } from '../../source/source.ts'
import { FAILBACK_MS, type NodesSetup } from '../node-setup.ts'
import { accountOn, checkPayee, type PaidAccount, type Payee } from '../payee.ts'

export interface OriginSetup extends NodesSetup {
  readonly payee: Payee
  /** Pools that give the work instead of nodes; undefined: nodes do. */
  readonly pools?: PoolsSetup | undefined
  /** The fleet whose leader gives the work instead; undefined: none. */
  readonly fleet?: FleetRigSetup | undefined
}

/** This machine as a rig of a fleet. */
export interface FleetRigSetup extends LinkSetup {
  /** Its name, for people. */
  readonly rig: string
}

export interface PoolsSetup {
  /** In order of priority. */
  readonly addresses: readonly PoolAddress[]
  readonly trust: PoolTrust
}

/** What nodes know and pools do not tell. */
export interface NodeOrigin {
  /** That of highest priority among those that answered at the start. */
  readonly client: NodeClient
  /** All, the one that gives work now first. */
  readonly clients: () => readonly NodeClient[]
  /** Asks the node of the present work for a payload, and then the others. */
  readonly payloads: Pick<NodeClient, 'payloadOutputs'>
  readonly account: PaidAccount
}

export interface Origin {
  readonly source: Source
  /** null: there are no chains to choose from. */
  readonly choice: ChainChoice | null
  /** Name of the network; pools do not tell it. */
  readonly network: string
  /** Who is paid: an account, or the user as the pool knows it. */
  readonly payee: string
  /** null: pools or the leader of a fleet give the work. */
  readonly node: NodeOrigin | null
  /** Whether solutions have to be kept here until it is known what became of them. */
  readonly isKept: boolean
  /** Of a fleet: takes what its leader has to do with the miner. */
  readonly attach?: (ties: FleetRigTies) => void
  readonly close: () => Promise<void>
}

const POOL_NETWORK = 'pool'

/** Checks that need no network. Throws NewcutError BAD_OPTION. */
export function checkOrigin({ payee, pools, fleet }: Pick<OriginSetup, 'payee' | 'pools' | 'fleet'>): void {
  if (pools === undefined && fleet === undefined) checkPayee(payee)
}

/**
 * Waits for the first node that answers, or the first pool that gives work; `onWaiting` is called with the reason.
 * Throws NewcutError, or the signal's reason.
 */
export async function reachOrigin(
  setup: OriginSetup,
  onWaiting: (message: string) => void,
  signal: AbortSignal,
): Promise<Origin> {
  const { payee, pools, fleet, chains } = setup
  if (fleet !== undefined) return joinFleet(fleet, setup, onWaiting, signal)
  if (pools !== undefined) return reachPools(pools, setup, onWaiting, signal)
  const { reachNodes } = await import('./nodes.ts')
  const nodes = await reachNodes(setup, onWaiting, signal)
  const { client, clients, payloads, close } = nodes
  try {
    checkChains(chains, client)
    const network = client.info.nodeVersion
    const account = accountOn(network, payee)
    const node = { client, clients, payloads, account }
    const source = nodes.sourceFor(account)
    return { source, choice: source, network, payee: account.account, node, isKept: true, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function joinFleet(
  { rig, ...setup }: FleetRigSetup,
  { node: { failFast, maxWaitMs } }: OriginSetup,
  onWaiting: (message: string) => void,
  signal: AbortSignal,
): Promise<Origin> {
  const refused = new AbortController()
  const refuse = (message: string) => refused.abort(new NewcutError('NODE_UNREACHABLE', message))
  const patience =
    maxWaitMs === undefined
      ? undefined
      : setTimeout(() => refuse(`no leader of the fleet gave work in ${maxWaitMs / 1000} s`), maxWaitMs)
  const ends = AbortSignal.any([signal, refused.signal])
  const shared = { clock: systemClock, random: Math.random }
  const { Link } = await import('../../fleet/link.ts')
  const { FleetSource } = await import('../../source/fleet/fleet-source.ts')
  try {
    const agent = `newcut/${packageVersion}`
    const link = await Link.open({ ...setup, agent, ...shared }, failFast ? null : onWaiting, ends)
    try {
      const names = { fleet: setup.fleet, rig, version: packageVersion, session: randomUUID() }
      const source = await FleetSource.join({ link, ...names, ...shared }, failFast ? refuse : onWaiting, ends)
      const { network, account } = source.payee
      const close = () => {
        source.close()
        return link.close()
      }
      const attach = (ties: FleetRigTies) => source.attach(ties)
      return { source, choice: null, network, payee: account, node: null, isKept: true, attach, close }
    } catch (error) {
      await link.close()
      throw error
    }
  } finally {
    clearTimeout(patience)
  }
}

async function reachPools(
  { addresses, trust }: PoolsSetup,
  { failbackMs = FAILBACK_MS, node: { failFast, maxWaitMs } }: OriginSetup,
  onWaiting: (message: string) => void,
  signal: AbortSignal,
): Promise<Origin> {
  const { PoolSource } = await import('../../source/pool/pool-source.ts')
  const [first] = addresses
  const refused = new AbortController()
  const refuse = (message: string) => refused.abort(new NewcutError('NODE_UNREACHABLE', message))
  const options = {
    pools: addresses,
    trust,
    agent: `newcut/${packageVersion}`,
    clock: systemClock,
    random: Math.random,
  }
  const patience =
    maxWaitMs === undefined
      ? undefined
      : setTimeout(() => refuse(`no pool gave work in ${maxWaitMs / 1000} s`), maxWaitMs)
  try {
    const ends = AbortSignal.any([signal, refused.signal])
    const source = await PoolSource.reach({ ...options, failbackMs }, failFast ? refuse : onWaiting, ends)
    return {
      source,
      choice: null,
      network: POOL_NETWORK,
      payee: first.user,
      node: null,
      isKept: false,
      close: async () => source.close(),
    }
  } finally {
    clearTimeout(patience)
  }
}

/** Throws NewcutError BAD_OPTION for chains that the network does not have. */
export function checkChains(chains: readonly number[] | undefined, { info, http }: NodeClient): void {
  const has = info.nodeChains.map(Number)
  const unknown = chains?.filter((chain) => !has.includes(chain)) ?? []
  if (unknown.length === 0) return
  const message = `--chains: ${info.nodeVersion} at ${http.baseUrl} has no chain ${unknown.join(', ')}`
  throw new NewcutError('BAD_OPTION', message, { hint: `its chains are ${has[0]} to ${has.at(-1)}` })
}
