/** Where work comes from, nodes or pools, and what is known of that place. */
import { NewcutError } from '../core/errors.ts'
import type { NodeClient } from '../node/client.ts'
import { systemClock } from '../platform/clock.ts'
import { packageVersion } from '../platform/version.ts'
import type { PoolAddress } from '../source/pool/address.ts'
import type { PoolTrust } from '../source/pool/connection.ts'
import { PoolSource } from '../source/pool/pool-source.ts'
import type { Source } from '../source/source.ts'
import { FAILBACK_MS, type NodesSetup, reachNodes } from './nodes.ts'
import { accountOn, checkPayee, type PaidAccount, type Payee } from './payee.ts'

export interface OriginSetup extends NodesSetup {
  readonly payee: Payee
  /** Pools that give the work instead of nodes; undefined: nodes do. */
  readonly pools?: PoolsSetup | undefined
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
  /** Name of the network; pools do not tell it. */
  readonly network: string
  /** Who is paid: an account, or the user as the pool knows it. */
  readonly payee: string
  /** null: pools give the work. */
  readonly node: NodeOrigin | null
  readonly close: () => Promise<void>
}

const POOL_NETWORK = 'pool'

/** Checks that need no network. Throws NewcutError BAD_OPTION. */
export function checkOrigin({ payee, pools }: Pick<OriginSetup, 'payee' | 'pools'>): void {
  if (pools === undefined) checkPayee(payee)
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
  const { payee, pools, chains } = setup
  if (pools !== undefined) return reachPools(pools, setup, onWaiting, signal)
  const nodes = await reachNodes(setup, onWaiting, signal)
  const { client, clients, payloads, close } = nodes
  try {
    checkChains(chains, client)
    const network = client.info.nodeVersion
    const account = accountOn(network, payee)
    const node = { client, clients, payloads, account }
    return { source: nodes.sourceFor(account), network, payee: account.account, node, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function reachPools(
  { addresses, trust }: PoolsSetup,
  { failbackMs = FAILBACK_MS, node: { failFast, maxWaitMs } }: OriginSetup,
  onWaiting: (message: string) => void,
  signal: AbortSignal,
): Promise<Origin> {
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
    return { source, network: POOL_NETWORK, payee: first.user, node: null, close: async () => source.close() }
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
