/** Finds out what the node is, and which needs it offers. */

import type { Clock } from '#ground/base/clock.ts'
import { describeError, operatingError } from '#ground/base/errors.ts'
import { knownNetwork } from '#ground/chain/known-networks.ts'
import type { NetworkDefinition } from '#ground/chain/network.ts'
import { development } from '#ground/chain/network-data.ts'
import { conformanceErrors } from './errors.ts'
import { makeValue } from './makes.ts'
import { findPendingRefusal, type PendingProbe } from './pending.ts'
import { partOf, type Variables } from './variables.ts'
import { type HttpTransport, jsonOf, type WireAnswer } from './wire.ts'
import { type CaseNeed, caseNeeds, type Release } from './words.ts'

/** The node's description of itself, and the needs that it offers. */
export interface NodeProfile {
  readonly network: string
  readonly packageVersion: string
  /** The release whose expectations fit the node. */
  readonly release: Release
  /** CaseNeed -> null if the node offers it, otherwise the reason. */
  readonly offers: Readonly<Record<CaseNeed, string | null>>
  /** Variables that all cases share. */
  readonly variables: Variables
  /** Clock of the node, seconds since 1970, when it was asked. */
  readonly nowS: number
}

const FUNDED = 'sender00'
/** A command is sent only for cases that need to know. */
const NOT_PROBED = 'no chosen case needs it'

const plain = { headers: { accept: 'application/json' }, body: null } as const
const sent = { 'content-type': 'application/json', accept: '*/*' }

interface ProbeOptions {
  readonly wire: HttpTransport
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Needs of the chosen cases. */
  readonly wanted: ReadonlySet<CaseNeed>
  /** Networks of the user's files. Default: none. */
  readonly networks?: readonly NetworkDefinition[] | undefined
}

/** @throws NewcutError if the node cannot be reached, or does not describe itself */
export async function probe(options: ProbeOptions): Promise<NodeProfile> {
  const { wire, signal } = options
  const answer = await wire.request({ method: 'GET', path: '/info', ...plain }, signal)
  const info = jsonOf(answer)
  const network = partOf(info, ['nodeVersion'])
  const chains = partOf(info, ['nodeChains'])
  const isList = Array.isArray(chains) && chains.length > 0 && chains.every((id) => typeof id === 'string')
  if (answer.status !== 200 || typeof network !== 'string' || !isList) {
    throw operatingError(conformanceErrors.notNode, { status: answer.status })
  }
  const product = Object.keys(answer.headers).flatMap((name) => /^x-(\w+)-node-version$/.exec(name)?.[1] ?? [])[0]
  const packageVersion = String(partOf(info, ['nodePackageVersion']) ?? '0')
  const nowS = Number(answer.headers['x-server-timestamp'] ?? 0)
  const sorted = (chains as string[]).toSorted((a, b) => Number(a) - Number(b))
  const [chain] = sorted
  const base = `/${product ?? 'chainweb'}/0.0/${network}`
  const variables: Variables = new Map<string, unknown>([
    ['network', network],
    ['base', base],
    ['product', product ?? 'chainweb'],
    ['chains', sorted],
    ['chain', chain],
    ['blockGas', knownNetwork(network, options.networks)?.blockGas ?? development.blockGas],
    ['unknownHash', `${'A'.repeat(42)}E`],
    ['account', FUNDED],
  ])
  const neighbour = neighbourOf(info, chain)
  if (neighbour !== null) variables.set('neighbour', neighbour)
  const offers = await offersOf(options, { network, base, chain, nowS })
  // A node of newcut has the version of the release that it follows.
  const release = offers['devnet-orders'] === null ? 'newcut' : releaseOf(packageVersion)
  return { network, packageVersion, release, offers, variables, nowS }
}

/** Older nodes of newcut have versions below 1, and chainweb-node from 2. */
function releaseOf(packageVersion: string): Release {
  const major = Number(packageVersion.split('.')[0])
  if (major === 2) return 'live 2.32'
  return major > 2 ? 'live 3.2' : 'newcut'
}

/** A chain next to this one in the newest graph; null if there is none. */
function neighbourOf(info: unknown, chain: string): string | null {
  const history = partOf(info, ['nodeGraphHistory'])
  if (!Array.isArray(history)) return null
  const newest = history.toSorted((a, b) => Number(b[0]) - Number(a[0]))[0] as readonly unknown[] | undefined
  const graph = newest?.[1]
  if (!Array.isArray(graph)) return null
  const found = graph.find(([id]) => String(id) === chain) as readonly [unknown, readonly unknown[]] | undefined
  return found === undefined || found[1].length === 0 ? null : String(found[1][0])
}

async function offersOf(
  { wire, clock, signal, wanted, networks }: ProbeOptions,
  node: Pick<PendingProbe, 'network' | 'base' | 'chain' | 'nowS'>,
): Promise<NodeProfile['offers']> {
  const { network, base, chain } = node
  // Their nodes serve everybody: the runner changes nothing there, and does not try to.
  if (knownNetwork(network, networks)?.isPublic) {
    const reason = `${network} is a public network`
    return { ...offersOfNone(reason), 'read-only': null }
  }
  const request = async (method: string, path: string, body: string | null) => {
    try {
      return await wire.request({ method, path, headers: body === null ? plain.headers : sent, body }, signal)
    } catch (error) {
      if (signal.aborted) throw error
      return describeError(error)
    }
  }
  const blocks = refusalReasonOf('POST /make-blocks', await request('POST', '/make-blocks', '{}'), [200, 400])
  const status = refusalReasonOf('GET /devnet/status', await request('GET', '/devnet/status', null), [200])
  const details = await request('POST', `${base}/chain/${chain}/pact/api/v1/local`, balanceCommand(network, chain))
  const isFunded = typeof details !== 'string' && partOf(jsonOf(details), ['result', 'status']) === 'success'
  const funded = isFunded ? null : `the account ${FUNDED} has no coins there`
  const isTried = wanted.has('pending') && funded === null && blocks === null
  const pending = isTried
    ? await findPendingRefusal({ wire, clock, signal, ...node })
    : (funded ?? blocks ?? NOT_PROBED)
  return { 'read-only': null, 'funded-account': funded, mine: blocks, pending, reorg: status, 'devnet-orders': status }
}

/** No need is offered, for this reason. */
function offersOfNone(reason: string): Record<CaseNeed, string | null> {
  return Object.fromEntries(caseNeeds.map((need) => [need, reason])) as Record<CaseNeed, string>
}

function balanceCommand(network: string, chain: string): string {
  const code = `(coin.get-balance "${FUNDED}")`
  return JSON.stringify(makeValue('command', { chain, code, after: 0 }, { network, nowS: 0, nonce: 'balance' }))
}

function refusalReasonOf(name: string, answer: WireAnswer | string, fine: readonly number[]): string | null {
  if (typeof answer === 'string') return `${name}: ${answer}`
  return fine.includes(answer.status) ? null : `${name} answers ${answer.status}`
}
