/**
 * The table of endpoints of a node's HTTP interface. The embedded node validates requests against it and publishes it
 * as OpenAPI. `id` is also the name of the client's method.
 */

import {
  BackupStatus,
  BlockObject,
  BranchBounds,
  CutHashes,
  HashText,
  HeaderObject,
  HeaderText,
  MinerBody,
  NodeConfig,
  NodeInfo,
  PageQuery,
  PayloadBatch,
  PayloadData,
  PayloadWithOutputs,
  PeerInfo,
  PeerPageQuery,
} from './bodies.ts'
import { commandOperations } from './command-operations.ts'
import { mempoolOperations } from './mempool-operations.ts'
import {
  BINARY,
  Bytes,
  badRequest,
  ChainParams,
  EVENT_STREAM,
  HashParams,
  JSON_TYPE,
  json,
  None,
  notFound,
  OBJECT_JSON_TYPE,
  type Operation,
  PageOf,
  TEXT,
  TextBody,
  text,
} from './operation.ts'
import { Type } from './typebox.ts'

/** The client named the entity tag of the answer. */
const notModified = { description: 'the client has it already' }

const headerPage = {
  description: 'a page of headers',
  content: { [JSON_TYPE]: PageOf(HeaderText), [OBJECT_JSON_TYPE]: PageOf(HeaderObject) },
}
const hashPage = json(PageOf(HashText), 'a page of block hashes')
const blockPage = json(PageOf(BlockObject), 'a page of blocks with payloads and outputs')
const boundsExceeded = {
  description: 'too many bounds, or a malformed request',
  content: { [JSON_TYPE]: Type.String(), [TEXT]: TextBody },
}
const bounds = { type: 'application/json', schema: BranchBounds }

const defaults = { scope: 'network', params: None, query: None } as const
const onChain = { ...defaults, params: ChainParams } as const
const ascending = { ...onChain, method: 'GET', group: 'chain', query: PageQuery } as const
const branch = { ...onChain, method: 'POST', group: 'chain', query: PageQuery, body: bounds } as const

const node = {
  healthCheck: {
    ...defaults,
    id: 'healthCheck',
    scope: 'root',
    method: 'GET',
    path: '/health-check',
    group: 'node',
    summary: 'health of the node',
    responses: { 200: text(TextBody), 503: text(TextBody, 'shutting down') },
  },
  nodeInfo: {
    ...defaults,
    id: 'nodeInfo',
    scope: 'root',
    method: 'GET',
    path: '/info',
    group: 'node',
    summary: 'the network and its chains',
    responses: { 200: json(NodeInfo) },
  },
  config: {
    ...defaults,
    id: 'config',
    scope: 'root',
    method: 'GET',
    path: '/config',
    group: 'node',
    summary: 'the configuration of the node, without secrets',
    responses: { 200: json(NodeConfig) },
  },
  makeBackup: {
    ...defaults,
    id: 'makeBackup',
    scope: 'root',
    method: 'POST',
    path: '/make-backup',
    group: 'node',
    forThisMachine: true,
    summary: 'start a backup job, or return the id of the running one',
    query: Type.Object({ backupPact: Type.Optional(Type.String({ description: 'also the contract-state database' })) }),
    responses: {
      200: text(TextBody, 'backup id'),
      403: text(TextBody, 'not from this machine'),
      404: text(TextBody, 'backups are not enabled'),
    },
  },
  checkBackup: {
    ...defaults,
    id: 'checkBackup',
    scope: 'root',
    method: 'GET',
    path: '/check-backup/{backupId}',
    group: 'node',
    summary: 'status of a backup job',
    params: Type.Object({ backupId: Type.String({ pattern: '^[a-zA-Z0-9_-]+$' }) }),
    responses: { 200: text(BackupStatus), 404: text(TextBody, 'no such backup, or backups are not enabled') },
  },
} as const satisfies Record<string, Operation>

const cut = {
  cut: {
    ...defaults,
    id: 'cut',
    method: 'GET',
    path: '/cut',
    group: 'cut',
    summary: 'the head of every chain',
    query: Type.Object({ maxheight: Type.Optional(Type.Integer({ minimum: 0, description: 'of the cut' })) }),
    responses: { 200: json(CutHashes) },
  },
  putCut: {
    ...defaults,
    id: 'putCut',
    method: 'PUT',
    path: '/cut',
    group: 'cut',
    summary: "a peer's cut, with blocks that the node may not have",
    body: { type: 'application/json', schema: CutHashes },
    responses: {
      204: { description: 'taken' },
      401: text(TextBody, 'the origin is not a known peer'),
    },
  },
  cutPeers: {
    ...defaults,
    id: 'cutPeers',
    method: 'GET',
    path: '/cut/peer',
    group: 'cut',
    summary: 'peers of the node',
    query: PeerPageQuery,
    responses: { 200: json(PageOf(PeerInfo)) },
  },
  putCutPeer: {
    ...defaults,
    id: 'putCutPeer',
    method: 'PUT',
    path: '/cut/peer',
    group: 'cut',
    summary: 'announce a peer',
    body: { type: 'application/json', schema: PeerInfo },
    responses: { 204: { description: 'added' }, 503: text(TextBody, 'too many peers at once') },
  },
} as const satisfies Record<string, Operation>

const chain = {
  hashes: {
    ...ascending,
    id: 'hashes',
    path: '/chain/{chain}/hash',
    summary: 'block hashes, ascending, orphans included',
    responses: { 200: hashPage, 404: notFound },
  },
  hashBranch: {
    ...branch,
    id: 'hashBranch',
    path: '/chain/{chain}/hash/branch',
    summary: 'block hashes of branches, descending',
    responses: { 200: hashPage, 400: boundsExceeded, 404: notFound },
  },
  headers: {
    ...ascending,
    id: 'headers',
    path: '/chain/{chain}/header',
    summary: 'headers, ascending, orphans included',
    responses: { 200: headerPage, 404: notFound },
  },
  header: {
    ...onChain,
    id: 'header',
    method: 'GET',
    path: '/chain/{chain}/header/{hash}',
    group: 'chain',
    summary: 'one header',
    params: HashParams,
    responses: {
      200: {
        description: 'the header',
        content: { [JSON_TYPE]: HeaderText, [OBJECT_JSON_TYPE]: HeaderObject, [BINARY]: Bytes },
      },
      304: notModified,
      404: notFound,
    },
  },
  headerBranch: {
    ...branch,
    id: 'headerBranch',
    path: '/chain/{chain}/header/branch',
    summary: 'headers of branches, descending',
    responses: { 200: headerPage, 400: boundsExceeded, 404: notFound },
  },
  blocks: {
    ...ascending,
    id: 'blocks',
    path: '/chain/{chain}/block',
    summary: 'blocks with payloads, ascending, orphans included',
    responses: { 200: blockPage, 404: notFound },
  },
  blockBranch: {
    ...branch,
    id: 'blockBranch',
    path: '/chain/{chain}/block/branch',
    summary: 'blocks of branches, descending',
    responses: { 200: blockPage, 400: boundsExceeded, 404: notFound },
  },
} as const satisfies Record<string, Operation>

const heightHint = Type.Object({ height: Type.Optional(Type.Integer({ minimum: 0, description: 'a hint' })) })
const onePayload = { ...defaults, method: 'GET', group: 'payload', params: HashParams, query: heightHint } as const
const batch = { type: 'application/json', schema: PayloadBatch }

const payload = {
  payload: {
    ...onePayload,
    id: 'payload',
    path: '/chain/{chain}/payload/{hash}',
    summary: 'a payload, by payload hash',
    responses: {
      200: { description: 'the payload', content: { [JSON_TYPE]: PayloadData, [BINARY]: Bytes } },
      304: notModified,
      404: notFound,
    },
  },
  payloadOutputs: {
    ...onePayload,
    id: 'payloadOutputs',
    path: '/chain/{chain}/payload/{hash}/outputs',
    summary: 'a payload with its outputs',
    responses: {
      200: { description: 'the payload', content: { [JSON_TYPE]: PayloadWithOutputs, [BINARY]: Bytes } },
      304: notModified,
      404: notFound,
    },
  },
  payloads: {
    ...onChain,
    id: 'payloads',
    method: 'POST',
    path: '/chain/{chain}/payload/batch',
    group: 'payload',
    summary: 'several payloads; missing ones are omitted',
    body: batch,
    responses: { 200: json(Type.Array(PayloadData)) },
  },
  payloadsOutputs: {
    ...onChain,
    id: 'payloadsOutputs',
    method: 'POST',
    path: '/chain/{chain}/payload/outputs/batch',
    group: 'payload',
    summary: 'several payloads with outputs; missing ones are omitted',
    body: batch,
    responses: { 200: json(Type.Array(PayloadWithOutputs)) },
  },
} as const satisfies Record<string, Operation>

const events = { description: 'a stream of events', content: { [EVENT_STREAM]: TextBody } }

const noMoreStreams = text(TextBody, 'too many streams')

const stream = {
  headerUpdates: {
    ...defaults,
    id: 'headerUpdates',
    method: 'GET',
    path: '/header/updates',
    group: 'stream',
    summary: 'a BlockHeader event for every new header',
    responses: { 200: events, 503: noMoreStreams },
  },
  blockUpdates: {
    ...defaults,
    id: 'blockUpdates',
    method: 'GET',
    path: '/block/updates',
    group: 'stream',
    summary: 'a BlockHeader event with payload for every new block',
    responses: { 200: events, 503: noMoreStreams },
  },
} as const satisfies Record<string, Operation>

const mining = {
  work: {
    ...defaults,
    id: 'work',
    method: 'GET',
    path: '/mining/work',
    group: 'mining',
    summary: 'work: chain u32 LE, target u256 LE, header with open nonce',
    query: Type.Object({ chain: Type.Optional(Type.Integer({ minimum: 0, description: 'a suggestion' })) }),
    body: { type: 'application/json', schema: MinerBody },
    responses: {
      200: { description: 'work', content: { [BINARY]: Bytes } },
      403: text(TextBody, 'this account may not mine'),
      503: text(TextBody, 'too many work requests, or no chain can be mined'),
    },
  },
  solved: {
    ...defaults,
    id: 'solved',
    method: 'POST',
    path: '/mining/solved',
    group: 'mining',
    summary: 'solved work',
    body: { type: BINARY, schema: Bytes },
    responses: {
      200: { description: 'taken' },
      400: badRequest,
      404: text(TextBody, 'no associated payload'),
    },
  },
  updates: {
    ...defaults,
    id: 'updates',
    method: 'GET',
    path: '/mining/updates',
    group: 'mining',
    summary: 'a New Cut event when work for a chain becomes stale or available',
    body: { type: BINARY, schema: Bytes },
    responses: { 200: events, 400: badRequest, 503: noMoreStreams },
  },
} as const satisfies Record<string, Operation>

export const operations = {
  ...node,
  ...cut,
  ...chain,
  ...payload,
  ...stream,
  ...mempoolOperations,
  ...commandOperations,
  ...mining,
}
export type OperationId = keyof typeof operations
