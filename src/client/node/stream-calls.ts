/** Streams: new headers and blocks, and news for miners. */
import { decodeHex, encodeHex, readU256LE } from '#ground/base/bytes.ts'
import type { Clock } from '#ground/base/clock.ts'
import { describeError, FormatError, type NewcutError } from '#ground/base/errors.ts'
import { parseJson } from '#ground/base/json.ts'
import { encodeWork, type Header } from '#ground/chain/header.ts'
import { powHash } from '#ground/chain/pow.ts'
import { chainBytes } from '#ground/chain/work.ts'
import { HeaderUpdate, type PayloadWithOutputs } from '#ground/schema/bodies.ts'
import { operations } from '#ground/schema/operations.ts'
import { validatorOf } from '#ground/schema/validator.ts'
import { type ClientContext, originOf, verifierFor, verifyPayloadOf } from './chain-calls.ts'
import { NodeMisbehaved } from './errors.ts'
import { type EventStream, openEventStream } from './event-stream.ts'
import { codecOf, type EncodingOption, type HeaderEncodings } from './header-encoding.ts'
import type { NodeHttp } from './http.ts'
import { followStream, type Gap, type StreamOptions, type Updates } from './updates.ts'
import type { VerifyOption } from './verify.ts'

/** Streams have decoded headers, or the objects that nodes write. */
export type UpdateEncoding = 'decoded' | 'object'

/** A header that the node has added to its database; it may still become an orphan. */
export interface HeaderNews<E extends UpdateEncoding = 'decoded'> {
  readonly type: 'block'
  readonly header: HeaderEncodings[E]
  /** Proof-of-work hash, 64 hex digits, big-endian: as a number it is at most the target. */
  readonly powHash: string
  readonly target: bigint
  /** Number of transactions in the block. */
  readonly txCount: number
}

/** Like HeaderNews, with the payload of the block. */
export interface BlockNews<E extends UpdateEncoding = 'decoded'> extends HeaderNews<E> {
  readonly payloadWithOutputs: PayloadWithOutputs
}

/** An event on the work stream of a chain. */
export interface WorkNews {
  /**
   * `newCut`: the work of the chain is over, or possible again; `refreshed`: other transactions, the old work still
   * counts.
   */
  readonly type: 'newCut' | 'refreshed'
}

/** Callbacks of a work stream, for miners. */
export interface UpdateHandlers {
  /** The work of the chain is over, or possible again. */
  readonly onNewCut: () => void
  /** The stream is open; earlier events were missed. */
  readonly onOpen: () => void
  /** The stream broke, and is reopened after a pause of `retryInMs`. */
  readonly onError: (error: NewcutError, retryInMs: number) => void
  /** Longest silence before the stream is reopened; 0 sets no limit. */
  readonly stallMs: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

const NEW_CUT = 'New Cut'
/** Same parent, other transactions: the work stays valid, but the event shows that the stream is alive. */
const REFRESHED = 'Refreshed Block'
/** Nodes name both kinds of event `BlockHeader`; other descriptions of the interface name the second one `Block`. */
const BLOCK_EVENTS = ['BlockHeader', 'Block']
/** A block with its payload can have megabytes. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024

/** Streams new headers, or new blocks with payloads, of all chains. */
export function streamBlockNews<E extends UpdateEncoding>(
  context: ClientContext & { readonly http: NodeHttp },
  id: 'headerUpdates' | 'blockUpdates',
  options: StreamOptions & EncodingOption<E> & VerifyOption,
): Updates<HeaderNews<E> | Gap> {
  const operation = operations[id]
  const origin = originOf(context, operation)
  const codec = codecOf<E>(options.encoding)
  const verifier = verifierFor(context, options, origin)
  const call = options.signal ? { signal: options.signal } : {}
  const read = async (_name: string, data: string): Promise<HeaderNews<E>> => {
    const update = parseUpdate(data, origin)
    const { txCount, powHash: pow, payloadWithOutputs } = update
    const wrong = (what: string) =>
      new NodeMisbehaved(`${origin.url} sent ${what}`, { ...origin, excerpt: data.slice(0, 200) })
    if (id === 'blockUpdates' && payloadWithOutputs === undefined) throw wrong('a block without its payload')
    const target = readU256LE(decodeHex(update.target).reverse(), 0)
    const network = await context.networkCode()
    const header = readOrBlameNode(() => codec.fromObject(update.header, network), wrong)
    if (verifier !== null) {
      const decoded = readOrBlameNode(() => codec.toHeader(header, network), wrong)
      if (target !== decoded.target) throw wrong(`a target that is not that of its header ${update.header.hash}`)
      if (pow !== bigEndianPow(decoded)) throw wrong(`a powHash that is not that of its header ${update.header.hash}`)
      if (payloadWithOutputs !== undefined) verifyPayloadOf(update.header, payloadWithOutputs, origin)
      await verifier.verify([decoded], call)
    }
    return { type: 'block', header, powHash: pow, target, txCount, ...(payloadWithOutputs && { payloadWithOutputs }) }
  }
  const source = {
    http: context.http,
    path: context.requests.pathOf(operation),
    operation: id,
    hintIfMissing: 'live nodes serve it only if headerStream is true in their configuration',
    events: BLOCK_EVENTS,
    maxEventBytes: MAX_EVENT_BYTES,
    read,
  }
  return followStream(source, options)
}

function parseUpdate(data: string, origin: { readonly url: string; readonly operation: string }): HeaderUpdate {
  const wrong = (what: string) =>
    new NodeMisbehaved(`${origin.url} sent an event ${what}`, { ...origin, excerpt: data.slice(0, 200) })
  let json: unknown
  try {
    json = parseJson(data)
  } catch (error) {
    throw wrong(`whose data are not JSON (${describeError(error)})`)
  }
  const validator = validatorOf(HeaderUpdate)
  if (!validator.accepts(json)) throw wrong(`in which ${validator.complaint(json)}`)
  return json as HeaderUpdate
}

function bigEndianPow(header: Header): string {
  return encodeHex(powHash(encodeWork(header)).reverse())
}

function readOrBlameNode<T>(read: () => T, wrong: (what: string) => NodeMisbehaved): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof FormatError) throw wrong(`a malformed header: ${error.message}`)
    throw error
  }
}

/** The work stream of a chain as an iterable. */
export function streamWorkNews(
  { http, requests }: ClientContext & { readonly http: NodeHttp },
  chain: number,
  options: StreamOptions,
): Updates<WorkNews | Gap> {
  const source = {
    http,
    path: requests.pathOf(operations.updates),
    operation: operations.updates.id,
    hintIfMissing: 'mining is not enabled on that node, or it is not the service API',
    body: chainBytes(chain),
    events: [NEW_CUT, REFRESHED],
    read: (name: string): WorkNews => ({ type: name === NEW_CUT ? 'newCut' : 'refreshed' }),
  }
  return followStream(source, options)
}

/** The work stream of a chain with callbacks; it stays open until it is closed. */
export function openWorkStream(
  { http, requests }: ClientContext & { readonly http: NodeHttp },
  chain: number,
  handlers: UpdateHandlers,
): EventStream {
  return openEventStream({
    http,
    path: requests.pathOf(operations.updates),
    operation: operations.updates.id,
    body: chainBytes(chain),
    events: [NEW_CUT, REFRESHED],
    onEvent: (name) => {
      if (name === NEW_CUT) handlers.onNewCut()
    },
    onOpen: handlers.onOpen,
    onError: handlers.onError,
    stallMs: handlers.stallMs,
    clock: handlers.clock,
    signal: handlers.signal,
  })
}
