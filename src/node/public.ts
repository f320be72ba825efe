/**
 * The door of `newcut/node`: the client of a node, and the types and errors that its users meet. What is public is
 * chosen here; code of this package imports the files behind it.
 */
export type { Clock } from '../core/clock.ts'
export { type ErrorCode, FormatError, NewcutError } from '../core/errors.ts'
export type { ForkRules } from '../core/fork.ts'
export type { Graph } from '../core/graph.ts'
export type { Header, WorkFields } from '../core/header.ts'
export type { ProductWord } from '../core/header-json.ts'
export { type ExactJson, NumberText } from '../core/json.ts'
export type { Network, RuleHeights } from '../core/network.ts'
export type { MinerAccount } from '../core/payload.ts'
export type { HeaderRule } from '../core/validate.ts'
export type { Work } from '../core/work.ts'
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
} from '../schema/bodies.ts'
export type {
  CommandError,
  CommandMetaData,
  CommandResult,
  Continuation,
  ContractEvent,
} from '../schema/command-bodies.ts'
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
export type { WaitOptions, WaitProgress } from './wait-for.ts'
