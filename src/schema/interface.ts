/**
 * The bodies of the node interface as JSON schemas, each written once: the embedded node serves and checks by them, the
 * client validates what it receives. Types are derived from them.
 */
import { type Static, Type } from 'typebox'

/** 32 bytes as 43 characters of base64url. */
export const HashText = Type.String({ pattern: '^[a-zA-Z0-9_-]{43}$' })

/** Chain id, its adjacent chain ids. */
const AdjacencyList = Type.Array(Type.Tuple([Type.Integer(), Type.Array(Type.Integer())]))
/** Height from which the graph is in force, the graph. */
const GraphHistory = Type.Array(Type.Tuple([Type.Integer(), AdjacencyList]))

/** GET /info. Older and newer nodes leave out some properties; what the client needs is required. */
export const NodeInfo = Type.Object({
  nodeVersion: Type.String({ minLength: 1 }),
  nodeApiVersion: Type.String(),
  nodeChains: Type.Array(Type.String({ pattern: '^[0-9]+$' }), { minItems: 1 }),
  nodeNumberOfChains: Type.Integer({ minimum: 1 }),
  nodeGraphHistory: GraphHistory,
  nodeBlockDelay: Type.Integer({ minimum: 1, description: 'microseconds' }),
  nodePackageVersion: Type.Optional(Type.String()),
  nodeServiceDate: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  nodeLatestBehaviorHeight: Type.Optional(Type.Integer()),
  nodeGenesisHeights: Type.Optional(Type.Array(Type.Tuple([Type.String(), Type.Integer()]))),
  nodeHistoricalChains: Type.Optional(GraphHistory),
})
export type NodeInfo = Static<typeof NodeInfo>

/** GET cut. */
export const CutHashes = Type.Object({
  hashes: Type.Record(
    Type.String({ pattern: '^[0-9]+$' }),
    Type.Object({ height: Type.Integer({ minimum: 0 }), hash: HashText }),
  ),
  weight: HashText,
  height: Type.Integer({ minimum: 0 }),
})
export type CutHashes = Static<typeof CutHashes>

/** The body of a request for work. */
export const MinerBody = Type.Object({
  account: Type.String({ minLength: 1, maxLength: 256 }),
  predicate: Type.String({ minLength: 1, maxLength: 256 }),
  'public-keys': Type.Array(Type.String({ maxLength: 256 }), { maxItems: 64 }),
})
export type MinerBody = Static<typeof MinerBody>

/** Query of a paged request. */
export const PageQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 0 })),
  next: Type.Optional(Type.String({ pattern: '^(inclusive|exclusive):[a-zA-Z0-9_-]{43}$' })),
  minheight: Type.Optional(Type.Integer({ minimum: 0 })),
  maxheight: Type.Optional(Type.Integer({ minimum: 0 })),
})
export type PageQuery = Static<typeof PageQuery>
