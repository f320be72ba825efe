/** Genesis headers of a node, and the properties of its network that they teach, such as the version code. */
import { decodeBase64Url } from '#ground/base/bytes.ts'
import { unlessMalformed } from '#ground/base/json.ts'
import { fakesFirstEpoch, genesisProblem } from '#ground/chain/genesis.ts'
import { decodeHeader, type Header } from '#ground/chain/header.ts'
import type { ProductWord } from '#ground/chain/header-json.ts'
import { knownNetwork, type NetworkCode } from '#ground/chain/known-networks.ts'
import { completeNetwork, genesisHeight, graphAt, type Network } from '#ground/chain/network.ts'
import type { NodeInfo } from '#ground/schema/bodies.ts'
import { JSON_TYPE } from '#ground/schema/operation.ts'
import { operations } from '#ground/schema/operations.ts'
import type { NodeHttp } from './http.ts'
import type { CheckedNodeInfo } from './node-info.ts'
import { type CallOptions, misbehaviourOf, Requests } from './requests.ts'
import { type Networks, networkOfInfo, type VerifiableNetwork } from './verify-network.ts'

/**
 * Fetches the first headers of a chain.
 * @returns the genesis header, and up to `more` others
 * @throws NodeMisbehaved if the first is not a genesis header
 */
async function firstHeaders(
  requests: Requests,
  { chain, height, more = 0 }: { readonly chain: number; readonly height: number; readonly more?: number },
  call: CallOptions = {},
): Promise<readonly [Header, ...Header[]]> {
  const operation = operations.headers
  const options = { ...call, params: { chain: String(chain) }, query: { limit: 1 + more } }
  const { body, answer } = await requests.json<typeof operation, string>(operation, options, JSON_TYPE)
  const wrong = (what: string) => misbehaviourOf(operation, answer, `as the genesis header of chain ${chain} ${what}`)
  const [first, ...rest] = (body as { readonly items: readonly unknown[] }).items.map((text) =>
    typeof text === 'string' ? unlessMalformed(() => decodeHeader(decodeBase64Url(text, 'header'))) : undefined,
  )
  if (first === undefined) throw wrong('nothing')
  if (first === null) throw wrong('something that is not a header')
  if (first.height !== BigInt(height)) throw wrong(`a header of height ${first.height}`)
  const problem = genesisProblem(first, chain)
  if (problem !== null) throw wrong(`a header ${problem}`)
  return [first, ...rest.filter((header) => header !== null && header !== undefined)]
}

/**
 * The network whose rules headers are checked against. If the file of the network lacks only properties that genesis
 * headers have, they are fetched once, at the first call.
 * @param own networks of the user's files
 */
export function verifiableNetworkOf(
  requests: Requests,
  judged: CheckedNodeInfo,
  own: Networks = [],
): (call?: CallOptions) => Promise<VerifiableNetwork> {
  const present = networkOfInfo(judged, own)
  const file = knownNetwork(judged.info.nodeVersion, own)
  const { graphHistory, blockDelay } = present.network
  const definition = { ...file, graphHistory, blockDelay }
  const isLearnable = file !== undefined && completeNetwork({ ...learnable, ...file, ...definition }) !== null
  let learnt: VerifiableNetwork | null = present.isKnown || !isLearnable ? present : null
  return async (call = {}) => {
    if (learnt !== null || file === undefined) return learnt ?? present
    const network = completeNetwork({ ...(await learn(requests, present.network, call)), ...file, ...definition })
    if (network !== null) learnt = { network, isKnown: true }
    return learnt ?? present
  }
}

/** The properties that genesis headers have, with any value. */
const learnable = { code: 0, genesisTime: 0n, genesisTarget: (_: number) => 0n, fakeFirstEpochStart: false }

async function learn(
  requests: Requests,
  network: Pick<Network, 'name' | 'graphHistory'>,
  call: CallOptions,
): Promise<Partial<typeof learnable>> {
  const chains = graphAt(network, Number.POSITIVE_INFINITY).adjacents
  const fetchGenesis = (chain: number) =>
    firstHeaders(requests, { chain, height: genesisHeight(network, chain), more: chain === 0 ? 2 : 0 }, call)
  const all = await Promise.all(chains.map((_, chain) => fetchGenesis(chain)))
  const [[{ version: code, creationTime: genesisTime }]] = all
  const fakes = fakesFirstEpoch(all[0])
  return {
    code,
    genesisTime,
    genesisTarget: (chain: number) => all[chain][0].target,
    ...(fakes !== null && { fakeFirstEpochStart: fakes }),
  }
}

/**
 * Name and version code of the network of this name. The code of a network without a file is that of the genesis header
 * of chain 0, whose parent hash contains it. It is fetched once.
 * @param own networks of the user's files
 */
export function networkCodeOf(
  requests: Requests,
  name: string,
  own: Networks = [],
): (call?: CallOptions) => Promise<NetworkCode> {
  const known = knownNetwork(name, own)?.code
  let learnt: NetworkCode | null = known === undefined ? null : { name, code: known }
  return async (call = {}) => {
    learnt ??= { name, code: await genesisCode(requests, call) }
    return learnt
  }
}

/** Fetches the genesis header of chain 0. @throws NodeMisbehaved if the node returns another header */
export async function genesisHeaderOf(
  { http, product, info }: { readonly http: NodeHttp; readonly product: ProductWord; readonly info: NodeInfo },
  call: CallOptions = {},
): Promise<Header> {
  const requests = new Requests(http, `/${product}/0.0/${encodeURIComponent(info.nodeVersion)}`)
  const [header] = await firstHeaders(requests, { chain: 0, height: 0 }, call)
  return header
}

async function genesisCode(requests: Requests, call: CallOptions): Promise<number> {
  const [{ version }] = await firstHeaders(requests, { chain: 0, height: 0 }, call)
  return version
}
