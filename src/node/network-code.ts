/** The version code of a node's network, which JSON headers name and binary ones number. */
import { decodeBase64Url, equalBytes } from '../base/bytes.ts'
import { unlessMalformed } from '../base/json.ts'
import { genesisParentHash } from '../core/genesis.ts'
import { decodeHeader } from '../core/header.ts'
import type { ProductWord } from '../core/header-json.ts'
import { knownNetwork, type NetworkCode } from '../core/known-networks.ts'
import type { NodeInfo } from '../schema/bodies.ts'
import { JSON_TYPE } from '../schema/operation.ts'
import { operations } from '../schema/operations.ts'
import type { NodeHttp } from './http.ts'
import { type CallOptions, misbehaved, Requests } from './requests.ts'
import type { Networks } from './verify-network.ts'

/**
 * Name and version code of the network of this name. `own` are networks of the user's files. The code of a network without a file is that of the genesis header of
 * chain 0, whose parent hash contains it. It is fetched once.
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

/** The code in the genesis header of the client's network. Throws NodeMisbehaved if its parent hash is of another code. */
export function genesisCodeOf(
  { http, product, info }: { readonly http: NodeHttp; readonly product: ProductWord; readonly info: NodeInfo },
  call: CallOptions = {},
): Promise<number> {
  return genesisCode(new Requests(http, `/${product}/0.0/${encodeURIComponent(info.nodeVersion)}`), call)
}

async function genesisCode(requests: Requests, call: CallOptions): Promise<number> {
  const operation = operations.headers
  const options = { ...call, params: { chain: '0' }, query: { limit: 1 } }
  const { body, answer } = await requests.json<typeof operation, string>(operation, options, JSON_TYPE)
  const wrong = (what: string) => misbehaved(operation, answer, `as the genesis header of chain 0 ${what}`)
  const [text] = (body as { readonly items: readonly unknown[] }).items
  if (typeof text !== 'string') throw wrong('nothing')
  const header = unlessMalformed(() => decodeHeader(decodeBase64Url(text, 'header')))
  if (header === null) throw wrong('something that is not a header')
  if (header.height !== 0n) throw wrong(`a header of height ${header.height}`)
  if (!equalBytes(header.parent, genesisParentHash(header.version, 0))) {
    throw wrong(`a header whose parent hash does not fit its version code ${header.version}`)
  }
  return header.version
}
