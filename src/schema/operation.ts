/** What a row of the table of operations says, and the media types of the interface. */
import type { TObject, TSchema } from 'typebox'

export const TEXT = 'text/plain;charset=utf-8'
export const JSON_TYPE = 'application/json;charset=utf-8'
export const OBJECT_JSON_TYPE = 'application/json;blockheader-encoding=object'
export const BINARY = 'application/octet-stream'
export const EVENT_STREAM = 'text/event-stream'

export interface OperationResponse {
  readonly description: string
  /** Media type -> body; none: an empty body. The first type is the one for requests that accept anything. */
  readonly content?: Readonly<Record<string, TSchema>>
}

export interface Operation {
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT'
  /** `root`: at the root of the node; `network`: below `/PRODUCT/0.0/NETWORK`. */
  readonly scope: 'root' | 'network'
  /** With parameters as `{name}`. */
  readonly path: string
  readonly group: 'node' | 'cut' | 'chain' | 'payload' | 'stream' | 'mempool' | 'mining' | 'devnet'
  readonly summary: string
  readonly params: TObject
  readonly query: TObject
  readonly body?: { readonly type: string; readonly schema: TSchema }
  readonly responses: Readonly<Record<number, OperationResponse>>
}
