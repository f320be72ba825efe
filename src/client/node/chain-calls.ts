/** Hashes, headers and blocks of a chain. */
import { decodeHash, encodeBase64Url } from '#ground/base/bytes.ts'
import { FormatError, operatingError } from '#ground/base/errors.ts'
import type { Header } from '#ground/chain/header.ts'
import type { NetworkCode } from '#ground/chain/known-networks.ts'
import type { BlockObject, BranchBounds, HeaderObject, NodeInfo, PayloadWithOutputs } from '#ground/schema/bodies.ts'
import { JSON_TYPE, OBJECT_JSON_TYPE, type Operation } from '#ground/schema/operation.ts'
import { operations } from '#ground/schema/operations.ts'
import { nodeErrors } from './error-rows.ts'
import { NodeMisbehaved } from './errors.ts'
import {
  codecOf,
  type EncodingOption,
  type HeaderCodec,
  type HeaderEncoding,
  type HeaderEncodings,
} from './header-encoding.ts'
import { type GraphHistory, WrongAnswer } from './node-info.ts'
import { type Page, Paging } from './paging.ts'
import {
  type CallOptions,
  hasMediaType,
  misbehaviourOf,
  type OperationCall,
  type Requests,
  readJson,
} from './requests.ts'
import { HeaderVerifier, type VerifyOption } from './verify.ts'
import type { VerifiableNetwork } from './verify-network.ts'
import { verifyPayload } from './verify-payload.ts'

/** A block, payload or other hash: 43 characters of base64url, or its 32 bytes. */
export type Hash = string | Uint8Array

/** Part of a list to request. */
export interface RangeOptions extends CallOptions {
  /** Maximum number of items of a page; the node may return fewer. Default: the limit of the node. */
  readonly limit?: number
  /** Lowest block height, included. */
  readonly minheight?: number
  /** Highest block height, included. */
  readonly maxheight?: number
}

/** Blocks in `upper` and their ancestors, without the blocks in `lower` and their ancestors. */
export interface Bounds {
  readonly upper: readonly Hash[]
  readonly lower?: readonly Hash[]
}

/** Forms of blocks: with decoded headers, or as the objects that the node writes. */
export interface BlockEncodings {
  readonly decoded: Block
  readonly object: BlockObject
}

/** `decoded` or `object`: blocks have no other form on the wire. */
export type BlockEncoding = keyof BlockEncodings

/** A block with a decoded header. */
export interface Block {
  readonly header: Header
  readonly payloadWithOutputs: PayloadWithOutputs
}

/** Properties of the node that calls of a chain use. */
export interface ClientContext {
  readonly requests: Requests
  readonly info: NodeInfo
  readonly graphHistory: GraphHistory
  /** Root address of the node. */
  readonly url: string
  /** The network that the node claims to belong to. The first call may fetch its genesis headers. */
  readonly verifiable: (call?: CallOptions) => Promise<VerifiableNetwork>
  /** Its name and version code. The first call may fetch a header. */
  readonly networkCode: (call?: CallOptions) => Promise<NetworkCode>
  /** Fork numbers unknown to this version that were reported to the caller. */
  readonly reportedForks: Set<number>
}

/** @returns the chain as a path parameter. @throws NewcutError BAD_OPTION */
export function chainText(operation: Operation, chain: number): string {
  if (Number.isSafeInteger(chain) && chain >= 0) return String(chain)
  throw operatingError(nodeErrors.badChain, { operation: operation.id, chain })
}

/** @returns a hash in base64url. @throws FormatError */
export function textOfHash(hash: Hash): string {
  if (typeof hash === 'string') {
    decodeHash(hash)
    return hash
  }
  if (hash.length !== 32) throw new FormatError('hash', 0, `${hash.length} bytes, expected 32`)
  return encodeBase64Url(hash)
}

/** Lists hashes of a chain, or of branches of it. @throws NewcutError BAD_OPTION, FormatError for a bound */
export function listHashes(
  context: ClientContext,
  chain: number,
  options: RangeOptions,
  bounds?: Bounds,
): Paging<string> {
  const operation = bounds === undefined ? operations.hashes : operations.hashBranch
  return listOf<string, string>(context, operation, { chain, options, bounds, type: JSON_TYPE, read: (items) => items })
}

/** Name and code of the network, for headers that come as objects. */
function networkCodeFor(context: ClientContext, type: string, call: CallOptions): Promise<NetworkCode> | undefined {
  return type === OBJECT_JSON_TYPE ? context.networkCode(call) : undefined
}

/** Lists headers of a chain, or of branches of it. @throws NewcutError BAD_OPTION, FormatError for a bound */
export function listHeaders<E extends HeaderEncoding>(
  context: ClientContext,
  chain: number,
  options: RangeOptions & EncodingOption<E> & VerifyOption,
  bounds?: Bounds,
): Paging<HeaderEncodings[E]> {
  const operation = bounds === undefined ? operations.headers : operations.headerBranch
  const codec = codecOf(options.encoding)
  const verifier = verifierFor(context, options, originOf(context, operation, { chain: String(chain) }))
  const read = async (items: readonly (string | HeaderObject)[], call: CallOptions) => {
    const network = await networkCodeFor(context, codec.pageType, call)
    const read = items.map((item) =>
      typeof item === 'string' ? codec.fromText(item) : codec.fromObject(item, network),
    )
    for (const item of read) expectChain(codec.placeOf(item).chain, chain)
    await verifier?.verify(
      read.map((item) => codec.toHeader(item, network)),
      call,
    )
    return read
  }
  return listOf(context, operation, { chain, options, bounds, type: codec.pageType, read })
}

/** Lists blocks of a chain, or of branches of it. @throws NewcutError BAD_OPTION, FormatError for a bound */
export function listBlocks<E extends BlockEncoding>(
  context: ClientContext,
  chain: number,
  options: RangeOptions & { readonly encoding?: E } & VerifyOption,
  bounds?: Bounds,
): Paging<BlockEncodings[E]> {
  const operation = bounds === undefined ? operations.blocks : operations.blockBranch
  const codec = codecOf(options.encoding ?? 'decoded')
  const origin = originOf(context, operation, { chain: String(chain) })
  const verifier = verifierFor(context, options, origin)
  const read = async (items: readonly BlockObject[], call: CallOptions) => {
    for (const { header, payloadWithOutputs } of items) {
      expectChain(header.chainId, chain)
      if (verifier !== null) verifyPayloadOf(header, payloadWithOutputs, origin)
    }
    const network = await networkCodeFor(context, OBJECT_JSON_TYPE, call)
    const read = items.map(({ header, payloadWithOutputs }) => ({
      header: codec.fromObject(header, network),
      payloadWithOutputs,
    }))
    await verifier?.verify(
      read.map(({ header }) => (codec as HeaderCodec<unknown>).toHeader(header, network)),
      call,
    )
    return read as unknown as BlockEncodings[E][]
  }
  return listOf(context, operation, { chain, options, bounds, type: JSON_TYPE, read })
}

/**
 * Fetches one header.
 * @throws NotFound, InvalidHeader, FormatError for the hash, and the errors of Requests.send
 */
export async function fetchOneHeader<E extends HeaderEncoding>(
  context: ClientContext,
  chain: number,
  hash: Hash,
  options: CallOptions & EncodingOption<E> & VerifyOption,
): Promise<HeaderEncodings[E]> {
  const { header: operation } = operations
  const key = textOfHash(hash)
  const codec = codecOf(options.encoding)
  const params = { chain: chainText(operation, chain), hash: key }
  const answer = await context.requests.send(operation, { ...callOf(options), params, accept: codec.accept })
  const network = await networkCodeFor(context, codec.accept, callOf(options))
  const value = readOrBlameNode(operation, answer, () => {
    if (codec.accept === OBJECT_JSON_TYPE) {
      return codec.fromObject(readJson(operation, answer, OBJECT_JSON_TYPE) as HeaderObject, network)
    }
    const isText = answer.headers['content-type'] !== undefined && hasMediaType(answer, JSON_TYPE)
    return isText ? codec.fromText(readJson(operation, answer, JSON_TYPE) as string) : codec.fromBytes(answer.body)
  })
  const place = readOrBlameNode(operation, answer, () => codec.placeOf(value))
  if (place.hash !== key || place.chain !== chain) {
    throw misbehaviourOf(operation, answer, `another header: ${place.hash} of chain ${place.chain}`)
  }
  const verifier = verifierFor(context, options, originOf(context, operation, params))
  if (verifier !== null) {
    const decoded = readOrBlameNode(operation, answer, () => codec.toHeader(value, network))
    await verifier.verify([decoded], callOf(options))
  }
  return value
}

/** Source of a response, for errors. */
export interface AnswerOrigin {
  readonly url: string
  readonly operation: string
}

/** @returns a verifier, or null if `verify` is off */
export function verifierFor(
  context: ClientContext,
  { verify }: VerifyOption,
  origin: AnswerOrigin,
): Pick<HeaderVerifier, 'verify'> | null {
  if (verify === undefined || verify === false) return null
  const options = verify === true ? {} : verify
  const source = {
    fetchHeader: (chain: number, hash: string, call: CallOptions) =>
      fetchOneHeader(context, chain, hash, { ...call, encoding: 'decoded' }),
    fetchRange: (chain: number, minheight: number, maxheight: number, call: CallOptions) =>
      listHeaders(context, chain, { ...call, encoding: 'decoded', minheight, maxheight }),
  }
  let verifier: HeaderVerifier | null = null
  return {
    verify: async (checked, call) => {
      const { network: own } = options
      const network = own === undefined ? await context.verifiable(call) : { network: own, isKnown: true }
      verifier ??= new HeaderVerifier(network, options, source, origin, context.reportedForks)
      await verifier.verify(checked, call)
    },
  }
}

/** Checks the payload of a block. @throws InvalidPayload, or NodeMisbehaved for the payload of another block */
export function verifyPayloadOf(
  header: Pick<HeaderObject, 'payloadHash' | 'hash'>,
  payload: PayloadWithOutputs,
  origin: AnswerOrigin,
): void {
  if (payload.payloadHash !== header.payloadHash) {
    const message = `${origin.url}: payload ${payload.payloadHash} is not the one of block ${header.hash}`
    throw new NodeMisbehaved(message, origin)
  }
  verifyPayload(payload, origin)
}

/** @returns the source of the responses to an operation, for errors */
export function originOf(
  { url, requests }: ClientContext,
  operation: Operation,
  params: OperationCall['params'] = {},
): AnswerOrigin {
  return { url: url + requests.pathOf(operation, params), operation: operation.id }
}

/** @returns only the options of the request */
export function callOf({ signal, timeoutMs }: CallOptions): CallOptions {
  return { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) }
}

interface ListRequest<Wire, T> {
  readonly chain: number
  readonly options: RangeOptions
  readonly bounds: Bounds | undefined
  /** Media type of the page. */
  readonly type: string
  readonly read: (items: readonly Wire[], call: CallOptions) => readonly T[] | Promise<readonly T[]>
}

function listOf<Wire, T>(context: ClientContext, operation: Operation, list: ListRequest<Wire, T>): Paging<T> {
  const { limit, minheight, maxheight } = list.options
  const params = { chain: chainText(operation, list.chain) }
  const body = list.bounds && boundsBody(list.bounds)
  const fetch = async (next: string | undefined, call: CallOptions): Promise<Page<T>> => {
    const query = { limit, minheight, maxheight, next }
    const { body: page, answer } = await context.requests.json<Operation, string>(
      operation,
      { ...call, params, query, ...(body && { body }) },
      list.type,
    )
    const { items, limit: count, next: cursor } = page as { items: Wire[]; limit: number; next: string | null }
    try {
      return { items: await list.read(items, call), limit: count, next: cursor }
    } catch (error) {
      if (error instanceof FormatError || error instanceof WrongAnswer) {
        throw misbehaviourOf(operation, answer, `a list in which ${error.message}`, { cause: error })
      }
      throw error
    }
  }
  const defaults = { ...callOf(list.options), ...(limit !== undefined && { limit }) }
  return new Paging(fetch, defaults, { ...originOf(context, operation, params), operation })
}

function boundsBody({ lower = [], upper }: Bounds): BranchBounds {
  return { lower: lower.map(textOfHash), upper: upper.map(textOfHash) }
}

function expectChain(actual: number, expected: number): void {
  if (actual !== expected) throw new WrongAnswer(`there is a header of chain ${actual}, not ${expected}`)
}

/** Reads a header from a response. A malformed one is the fault of the node: NodeMisbehaved replaces FormatError. */
function readOrBlameNode<T>(operation: Operation, answer: Parameters<typeof misbehaviourOf>[1], read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof FormatError) {
      throw misbehaviourOf(operation, answer, `a malformed header: ${error.message}`, { cause: error })
    }
    throw error
  }
}
