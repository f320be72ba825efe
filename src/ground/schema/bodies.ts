/**
 * Bodies of the node interface as JSON schemas. The embedded node serves and documents them, the client validates
 * responses with them, and types are derived from them.
 */
import { type Static, Type } from './typebox.ts'

/** 32 bytes as 43 characters of base64url. */
export const HashText = Type.String({ pattern: '^[a-zA-Z0-9_-]{43}$', description: '32 bytes, base64url, unpadded' })
/** Any bytes as base64url. */
const Base64Url = Type.String({ pattern: '^[a-zA-Z0-9_-]*$', description: 'base64url, unpadded' })
const Natural = Type.Integer({ minimum: 0 })
/** An integer that may exceed 2^53. In memory it is a number, or a bigint beyond that (base/json.ts). */
export const BigNatural = Type.Unsafe<number | bigint>(Type.Integer({ minimum: 0, format: 'int64' }))
const BigInteger = Type.Unsafe<number | bigint>(Type.Integer({ format: 'int64' }))
/** Chain id as an object key. */
const ChainKey = Type.String({ pattern: '^[0-9]+$' })

/** Pairs of a chain id and its adjacent chain ids. */
const AdjacencyList = Type.Array(Type.Tuple([Type.Integer(), Type.Array(Type.Integer())]))
/** Pairs of a start height and the graph from that height. */
const GraphHistory = Type.Array(Type.Tuple([Type.Integer(), AdjacencyList]))

/**
 * Height of the latest rule change that the node knows: a block height up to release 3.2, the kind of change in later
 * releases.
 */
const LatestBehavior = Type.Union([
  Type.Integer(),
  Type.Object({ forkNumber: Natural }),
  Type.Object({ blockHeight: Natural }),
  Type.Literal('genesis'),
  Type.Literal('never'),
])

/**
 * GET /info in all forms since release 2.20 (PROTOCOL.md E.1). The client needs only the required keys: nodes before
 * 2.24.1 lack block delay and package version, nodes from 3.1 lack the service date. Unknown keys are kept.
 */
export const NodeInfo = Type.Object({
  nodeVersion: Type.String({ minLength: 1, description: 'network' }),
  nodeChains: Type.Array(ChainKey, { minItems: 1 }),
  nodeGraphHistory: GraphHistory,
  nodeNumberOfChains: Type.Optional(Type.Integer({ minimum: 1 })),
  nodeBlockDelay: Type.Optional(Type.Integer({ minimum: 1, description: 'microseconds' })),
  nodeApiVersion: Type.Optional(Type.String()),
  nodePackageVersion: Type.Optional(Type.String()),
  nodeServiceDate: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  nodeLatestBehaviorHeight: Type.Optional(LatestBehavior),
  nodeForkNumber: Type.Optional(Natural),
  nodeGenesisHeights: Type.Optional(Type.Array(Type.Tuple([Type.String(), Type.Integer()]))),
  nodeHistoricalChains: Type.Optional(GraphHistory),
})
/**
 * Self-description of a node: network, chains, graphs by height, block delay in microseconds.
 * @interface
 */
export type NodeInfo = Static<typeof NodeInfo>

/** GET /config; differs between nodes. */
export const NodeConfig = Type.Object({}, { additionalProperties: true, description: 'without secrets' })
export type NodeConfig = { readonly [key: string]: unknown }

/** A peer of a node. */
export const PeerInfo = Type.Object({
  id: Type.Union([HashText, Type.Null()], {
    description: 'SHA-256 of the certificate; null if an authority signed it',
  }),
  address: Type.Object({
    hostname: Type.String({ minLength: 1, maxLength: 255 }),
    port: Type.Integer({ minimum: 1, maximum: 65535 }),
  }),
})
/**
 * A peer of a node: certificate fingerprint and address.
 * @interface
 */
export type PeerInfo = Static<typeof PeerInfo>

/** Height and hash of a block. */
const BlockHeight = Type.Object({ height: Natural, hash: HashText })

/**
 * JSON object of a header (PROTOCOL.md B.7). The product word of the node determines the name of the version property.
 */
export const HeaderObject = Type.Object({
  nonce: Type.String({ pattern: '^[0-9]+$' }),
  creationTime: BigNatural,
  parent: HashText,
  adjacents: Type.Record(ChainKey, HashText),
  target: HashText,
  payloadHash: HashText,
  chainId: Natural,
  weight: HashText,
  height: BigNatural,
  chainwebVersion: Type.Optional(Type.String()),
  ledgerVersion: Type.Optional(Type.String()),
  epochStart: BigNatural,
  featureFlags: BigNatural,
  hash: HashText,
})
/**
 * JSON object of a header. Times are in microseconds; target and weight are u256 LE in base64url; the nonce is decimal.
 * @interface
 */
export type HeaderObject = Static<typeof HeaderObject>

/** Header bytes in base64url. */
export const HeaderText = Base64Url

/** POST branch: ancestors of `upper`, inclusive, that are not ancestors of `lower`. */
export const BranchBounds = Type.Object({
  lower: Type.Optional(Type.Union([Type.Array(HashText), Type.Null()])),
  upper: Type.Optional(Type.Union([Type.Array(HashText), Type.Null()])),
})
/**
 * Bounds of a branch query, as block hashes.
 * @interface
 */
export type BranchBounds = Static<typeof BranchBounds>

const payloadHashes = { transactionsHash: HashText, outputsHash: HashText, payloadHash: HashText }

/** GET payload, without outputs. */
export const PayloadData = Type.Object({
  transactions: Type.Array(Base64Url),
  minerData: Base64Url,
  ...payloadHashes,
})
/**
 * Payload of a block: miner data and transactions in base64url, with the hashes over them.
 * @interface
 */
export type PayloadData = Static<typeof PayloadData>

/** GET payload/outputs. */
export const PayloadWithOutputs = Type.Object({
  transactions: Type.Array(Type.Tuple([Base64Url, Base64Url]), { description: 'transaction, output' }),
  minerData: Base64Url,
  coinbase: Base64Url,
  ...payloadHashes,
})
/**
 * As PayloadData, with the output of each transaction and of the coinbase.
 * @interface
 */
export type PayloadWithOutputs = Static<typeof PayloadWithOutputs>

/** GET and PUT cut. A cut in a PUT may name blocks that the node does not have yet. */
export const CutHashes = Type.Object({
  hashes: Type.Record(ChainKey, BlockHeight, { additionalProperties: false }),
  weight: HashText,
  height: Natural,
  origin: Type.Optional(Type.Union([PeerInfo, Type.Null()])),
  instance: Type.Optional(Type.String()),
  id: Type.Optional(Type.String()),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.Union([HeaderText, HeaderObject]), { description: 'by block hash' }),
  ),
  payloads: Type.Optional(
    Type.Record(Type.String(), Type.Union([PayloadWithOutputs, PayloadData]), { description: 'by payload hash' }),
  ),
})
/**
 * The head of every chain. `height` and `weight` are sums over the heads; the weight is a u256 LE in base64url.
 * @interface
 */
export type CutHashes = Static<typeof CutHashes>

/** POST payload/batch. */
export const PayloadBatch = Type.Union([
  Type.Array(HashText),
  Type.Object({ heights: Type.Optional(Type.Array(Natural)), hashes: Type.Array(HashText) }),
])
export type PayloadBatch = Static<typeof PayloadBatch>

/** Item of a page of blocks. */
export const BlockObject = Type.Object({ header: HeaderObject, payloadWithOutputs: PayloadWithOutputs })
/**
 * A header with its payload and outputs.
 * @interface
 */
export type BlockObject = Static<typeof BlockObject>

/** Data of a `BlockHeader` event. Hex hashes are big-endian. */
export const HeaderUpdate = Type.Object({
  header: HeaderObject,
  txCount: Natural,
  powHash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  target: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  payloadWithOutputs: Type.Optional(PayloadWithOutputs),
})
/**
 * A new header, as sent on the header stream.
 * @interface
 */
export type HeaderUpdate = Static<typeof HeaderUpdate>

/** Body of a work request. */
export const MinerBody = Type.Object({
  account: Type.String({ minLength: 1, maxLength: 256 }),
  predicate: Type.String({ minLength: 1, maxLength: 256 }),
  'public-keys': Type.Array(Type.String({ maxLength: 256 }), { maxItems: 64 }),
})
/**
 * Recipient of a block reward.
 * @interface
 */
export type MinerBody = Static<typeof MinerBody>

/** POST mempool/getPending. */
export const PendingTransactions = Type.Object({
  hashes: Type.Array(HashText),
  highwaterMark: Type.Tuple([BigInteger, BigInteger], { description: 'server nonce, id of the newest transaction' }),
})
/**
 * Hashes of pending transactions, and the mark for the next request.
 * @interface
 */
export type PendingTransactions = Static<typeof PendingTransactions>

export const RequestKeys = Type.Array(HashText)
/** POST mempool/member: one entry per request key. */
export const Membership = Type.Array(Type.Boolean())

/** Entry of the answer to mempool/lookup. */
export const MempoolLookup = Type.Union([
  Type.Object({ tag: Type.Literal('Pending'), contents: Type.String({ description: 'JSON text of the command' }) }),
  Type.Object({ tag: Type.Literal('Missing') }),
])
export type MempoolLookup = Static<typeof MempoolLookup>

/** PUT mempool/insert: JSON texts of signed commands. */
export const CommandTexts = Type.Array(Type.String())

/** A signed command, the content of a transaction. */
export const Command = Type.Object({
  cmd: Type.String({ minLength: 1, description: 'JSON text of the command payload' }),
  hash: Type.String({ pattern: '^[a-zA-Z0-9_-]{43}$', description: 'BLAKE2b-256 or BLAKE2s-256 of cmd' }),
  sigs: Type.Array(Type.Union([Type.Object({ sig: Type.String() }, { additionalProperties: true }), Type.Null()])),
})
/**
 * A signed command.
 * @interface
 */
export type Command = Static<typeof Command>

/** Body of a 404 response; `key` names the missing item. */
export const NotFoundBody = Type.Object({ key: Type.Optional(Type.String()), reason: Type.String() })
/**
 * The missing item, and the node's explanation.
 * @interface
 */
export type NotFoundBody = Static<typeof NotFoundBody>

/** GET check-backup. */
export const BackupStatus = Type.Union([
  Type.Literal('backup-done'),
  Type.Literal('backup-in-progress'),
  Type.Literal('backup-failed'),
])
/** Status of a backup job. */
export type BackupStatus = Static<typeof BackupStatus>

/** Query of a paged request. */
export const PageQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 0, description: 'maximum number of items' })),
  next: Type.Optional(
    Type.String({ pattern: '^(inclusive|exclusive):[a-zA-Z0-9_-]{43}$', description: 'cursor from the previous page' }),
  ),
  minheight: Type.Optional(Natural),
  maxheight: Type.Optional(Natural),
})
/**
 * Selects a page of a list.
 * @interface
 */
export type PageQuery = Static<typeof PageQuery>

/** Query of a page of peers; its cursor is a position. */
export const PeerPageQuery = Type.Object({
  limit: Type.Optional(Natural),
  next: Type.Optional(Type.String({ pattern: '^(inclusive|exclusive):[0-9]{1,9}$' })),
})
/**
 * Selects a page of peers.
 * @interface
 */
export type PeerPageQuery = Static<typeof PeerPageQuery>
