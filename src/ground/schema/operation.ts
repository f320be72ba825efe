/** Row type of the table of operations, and media types of the interface. */

import { HashText, NotFoundBody } from './bodies.ts'
import { type TObject, type TSchema, Type } from './typebox.ts'

export const TEXT = 'text/plain;charset=utf-8'
export const JSON_TYPE = 'application/json;charset=utf-8'
export const OBJECT_JSON_TYPE = 'application/json;blockheader-encoding=object'
export const BINARY = 'application/octet-stream'
export const EVENT_STREAM = 'text/event-stream'
/** Headers of event streams: no caching, and nginx as a proxy must not buffer. */
export const EVENT_STREAM_HEADERS = {
  'content-type': EVENT_STREAM,
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
} as const

export interface OperationResponse {
  readonly description: string
  /** Media type -> body; missing for an empty body. The first type is the default for requests that accept anything. */
  readonly content?: Readonly<Record<string, TSchema>>
}

export interface Operation {
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT'
  /** `root`: at the root of the node. `network`: below `/PRODUCT/0.0/NETWORK`. */
  readonly scope: 'root' | 'network'
  /** Path with parameters as `{name}`. */
  readonly path: string
  /**
   * Restricts the operation to programs on the node's own machine; web pages are excluded. For operations that change
   * the state of the node or reveal it.
   */
  readonly forThisMachine?: true
  readonly group: 'node' | 'cut' | 'chain' | 'payload' | 'stream' | 'mempool' | 'command' | 'mining' | 'devnet'
  readonly summary: string
  readonly params: TObject
  readonly query: TObject
  readonly body?: { readonly type: string; readonly schema: TSchema }
  /** Responses of this operation; responses common to all operations of a kind are not repeated. */
  readonly responses: Readonly<Record<number, OperationResponse>>
}

export const None = Type.Object({})
export const ChainParams = Type.Object({ chain: Type.String({ description: 'chain id' }) })
export const HashParams = Type.Object({ chain: Type.String({ description: 'chain id' }), hash: HashText })

export const TextBody = Type.String()
export const Bytes = Type.String({ format: 'binary' })
export const notFound = {
  description: 'no such key, or (as text) no such chain',
  content: { [JSON_TYPE]: NotFoundBody, [TEXT]: Type.String() },
}
export const badRequest = { description: 'a malformed request', content: { [TEXT]: TextBody } }
export const json = <Schema extends TSchema>(schema: Schema, description = 'success') => ({
  description,
  content: { [JSON_TYPE]: schema },
})
export const text = <Schema extends TSchema>(schema: Schema, description = 'success') => ({
  description,
  content: { [TEXT]: schema },
})

/** A page of items. `next` is the `next` parameter of the following request, or null on the last page. */
export function PageOf<Item extends TSchema>(items: Item) {
  return Type.Object({
    limit: Type.Integer({ minimum: 0, description: 'items in this page' }),
    items: Type.Array(items),
    next: Type.Union([Type.String(), Type.Null()]),
  })
}
