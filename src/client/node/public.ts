/**
 * A typed client of a Chainweb node: live nodes, and the embedded node of `newcut devnet`.
 *
 * | task | start with |
 * |---|---|
 * | connect | {@link NodeClient.connect} with {@link NodeClientOptions} |
 * | read headers, blocks and payloads | {@link NodeClient.headers}, {@link NodeClient.blocks}, {@link Paging} |
 * | verify them | {@link VerifyOption}, {@link InvalidHeader}, {@link InvalidPayload} |
 * | follow new blocks | {@link NodeClient.headerUpdates}, {@link Updates}, {@link Gap} |
 * | evaluate code, submit commands | {@link NodeClient.local}, {@link NodeClient.send}, {@link NodeClient.waitFor} |
 * | mine | {@link NodeClient.work}, {@link NodeClient.solved}, {@link NodeClient.updates} |
 * | call what has no method here | {@link NodeHttp} |
 *
 * Calls take {@link CallOptions}: a `signal`, and a timeout in milliseconds. They throw {@link UnreachableError} without
 * a complete response, {@link NodeRefusal} for an error status, and {@link NodeMisbehaved} for a body that breaks the
 * interface. {@link isRetryable} is true if a retry may help. `newcut/wallet` builds and signs commands.
 *
 * @example Print the height of every chain, and the first headers of chain 0.
 * ```ts
 * import { isRetryable, NodeClient } from 'newcut/node'
 *
 * const client = await NodeClient.connect({ url: 'http://127.0.0.1:1848' })
 * try {
 *   const { hashes } = await client.cut()
 *   for (const [chain, { height }] of Object.entries(hashes)) console.log(`chain ${chain}: height ${height}`)
 *   for await (const header of client.headers(0).items({ most: 3 })) console.log(header.height, header.target)
 * } catch (error) {
 *   console.error(isRetryable(error) ? 'try again later' : 'a retry will not help', error)
 * } finally {
 *   await client.close()
 * }
 * ```
 * @module newcut/node
 */
export type { Clock } from '#ground/base/clock.ts'
export { type ErrorCode, FormatError, NewcutError } from '#ground/base/errors.ts'
export { type ExactJson, NumberText } from '#ground/base/json.ts'
export type { ForkRules } from '#ground/chain/fork.ts'
export type { Graph } from '#ground/chain/graph.ts'
export type { Header, WorkFields } from '#ground/chain/header.ts'
export type { ProductWord } from '#ground/chain/header-json.ts'
export type { HeaderRules, Network } from '#ground/chain/network.ts'
export type { MinerAccount } from '#ground/chain/payload.ts'
export type { HeaderRule } from '#ground/chain/validate.ts'
export type { Work } from '#ground/chain/work.ts'
export type {
  BackupStatus,
  BlockObject,
  BranchBounds,
  Command,
  CutHashes,
  HeaderObject,
  HeaderUpdate,
  MempoolLookup,
  NodeConfig,
  NodeInfo,
  PayloadData,
  PayloadWithOutputs,
  PeerInfo,
  PendingTransactions,
} from '#ground/schema/bodies.ts'
export type {
  CommandError,
  CommandMetaData,
  CommandResult,
  Continuation,
  ContractEvent,
} from '#ground/schema/command-bodies.ts'
export type { Block, BlockEncoding, BlockEncodings, Bounds, Hash, RangeOptions } from './chain-calls.ts'
export { NodeClient } from './client.ts'
export type { LocalOptions, LocalResult } from './command-calls.ts'
export {
  type AnswerDetails,
  BranchBoundsExceeded,
  InvalidHeader,
  InvalidPayload,
  isRetryable,
  MinersPoolFull,
  NodeMisbehaved,
  NodeRefusal,
  NotAcceptable,
  NotFound,
  NotRecognised,
  type PayloadRule,
  UnauthorizedMiner,
} from './errors.ts'
export type { EventStream } from './event-stream.ts'
export type { EncodingOption, HeaderEncoding, HeaderEncodings } from './header-encoding.ts'
export {
  type HttpAnswer,
  type HttpHead,
  type HttpRequest,
  type HttpStream,
  NodeHttp,
  type NodeHttpOptions,
} from './http.ts'
export type { WorkAnswer } from './mining-calls.ts'
export type { HighwaterMark } from './node-calls.ts'
export type { GraphHistory } from './node-info.ts'
export { type ItemsOptions, type Page, type PageFetch, type PagesOptions, Paging } from './paging.ts'
export type { PayloadKeys, PayloadOptions } from './payload-calls.ts'
export type { CallOptions } from './requests.ts'
export type { BlockNews, HeaderNews, UpdateEncoding, UpdateHandlers, WorkNews } from './stream-calls.ts'
export { type NamedReason, UnreachableError, type UnreachableReason } from './unreachable.ts'
export type { Gap, StreamOptions, Updates } from './updates.ts'
export type { VerifyOption, VerifyOptions } from './verify.ts'
export type { Networks, NodeClientOptions, VerifiableNetwork } from './verify-network.ts'
export type { WaitOptions, WaitProgress } from './wait-for.ts'
