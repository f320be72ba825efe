/**
 * Schemas of the developer page's data: the full view and its changes. Requests and manual settings are sent only to
 * this machine.
 */

import { HashText } from './bodies.ts'
import { DevnetStatus } from './control.ts'
import { outcome, PendingView } from './lookup.ts'
import { EVENT_STREAM, JSON_TYPE, None, type Operation, TEXT } from './operation.ts'
import { type Static, Type } from './typebox.ts'

/** Maximum number of view streams. */
export const MAX_VIEW_STREAMS = 16

/** Header of reads by the page itself, which its list of requests leaves out. */
export const PAGE_HEADER = 'x-newcut-page'

const Natural = Type.Integer({ minimum: 0 })
const Milliseconds = Type.Number({ description: 'milliseconds since the UNIX epoch' })

const NetworkView = Type.Object({
  name: Type.String(),
  product: Type.String({ description: 'product word in paths' }),
  version: Type.String({ description: 'of newcut' }),
  mode: Type.String({ description: 'source of blocks' }),
  pow: Type.Boolean({ description: 'true if blocks need proof of work' }),
  blockDelayMs: Type.Number(),
  adjacents: Type.Array(Type.Array(Natural), { description: 'by chain: the adjacent chains' }),
})

const HeadView = Type.Object({
  chain: Natural,
  height: Natural,
  hash: HashText,
  difficulty: Type.String({ pattern: '^[0-9]+$', description: 'average number of hashes for the block' }),
})

const BlockView = Type.Object({
  chain: Natural,
  height: Natural,
  hash: HashText,
  parent: HashText,
  adjacents: Type.Array(HashText, { description: 'hashes of the adjacent parents' }),
  createdMs: Milliseconds,
  transactions: Natural,
})

const BranchView = Type.Object({
  chain: Natural,
  lowest: { ...Natural, description: 'height of the first block' },
  hashes: Type.Array(HashText, { description: 'by height' }),
  createdMs: Type.Array(Milliseconds),
  transactions: Type.Array(Natural),
})

const PoolView = Type.Object({
  sizes: Type.Array(Natural, { description: 'by chain: pending transactions' }),
  newest: Type.Array(PendingView, { description: 'newest first' }),
})

const ExecutedView = Type.Object({
  key: Type.String({ description: 'request key' }),
  chain: Natural,
  height: Natural,
  block: HashText,
  isOrphan: Type.Boolean({ description: 'true if its block is currently orphaned' }),
  ...outcome,
})

const AccountView = Type.Object({
  account: Type.String(),
  balances: Type.Array(Type.Union([Type.String(), Type.Null()]), { description: 'by chain; null: no such account' }),
})

const RequestView = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  atMs: Milliseconds,
  method: Type.String(),
  path: Type.String(),
  status: Type.Integer(),
  ms: Type.Number({ description: 'from arrival to the end of the response' }),
})

const PrintView = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  by: Type.Union([Type.Literal('block'), Type.Literal('local'), Type.Literal('preflight')], {
    description: 'block, or the kind of a call',
  }),
  chain: Natural,
  height: Type.Union([Natural, Type.Null()], { description: 'null for a call' }),
  requestKey: Type.String(),
  module: Type.Union([Type.String(), Type.Null()], { description: 'null for the code of the command' }),
  line: Type.Integer({
    minimum: 1,
    description: 'of the call, in the text of the command, or of the one that deployed the module',
  }),
  text: Type.String({ description: 'at most 512 characters, in one line' }),
})

/** Complete values, except `blocks`, `requests` and `prints`: in a change event, these contain only new items. */
const sections = {
  network: NetworkView,
  heads: Type.Array(HeadView),
  blocks: Type.Array(BlockView, { description: 'orphans beside the branches; in a change event all new blocks' }),
  pool: PoolView,
  transactions: Type.Array(ExecutedView, { description: 'newest first' }),
  accounts: Type.Array(AccountView),
}
const forThisMachine = {
  status: DevnetStatus,
  requests: Type.Array(RequestView, { description: 'oldest first' }),
  prints: Type.Array(PrintView, { description: 'texts of print, oldest first; only with --allow-print' }),
}

export const NodeView = Type.Object({
  ...sections,
  branches: Type.Array(BranchView, {
    description:
      'the highest blocks of each chain up to its head. The parents of a block are the block before it, and those one height lower on the adjacent chains',
  }),
  status: Type.Optional(forThisMachine.status),
  requests: Type.Optional(forThisMachine.requests),
  prints: Type.Optional(forThisMachine.prints),
})

export type NodeView = Static<typeof NodeView>
export type NetworkView = Static<typeof NetworkView>
export type HeadView = Static<typeof HeadView>
export type BlockView = Static<typeof BlockView>
export type BranchView = Static<typeof BranchView>
export type PoolView = Static<typeof PoolView>
export type ExecutedView = Static<typeof ExecutedView>
export type AccountView = Static<typeof AccountView>
export type RequestView = Static<typeof RequestView>
export type PrintView = Static<typeof PrintView>

/** Maximum number of requests, and of printed texts. */
export const MAX_VIEW_ITEMS = 200
export const MAX_VIEW_HEIGHTS = 120

const query = Type.Object({
  heights: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_VIEW_HEIGHTS,
      description: 'heights of `branches` and `blocks`; default 28 to 120, by the number of chains',
    }),
  ),
  newest: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_VIEW_ITEMS,
      description: `maximum of \`requests\` and of \`prints\`; default ${MAX_VIEW_ITEMS}`,
    }),
  ),
})

export type ViewQuery = Static<typeof query>

const shared = { method: 'GET', scope: 'root', params: None, query } as const
const own = 'manual settings, requests and printed texts are sent only to this machine'

export const viewOperations = {
  devnetView: {
    ...shared,
    id: 'devnetView',
    path: '/devnet/view',
    group: 'devnet',
    summary: `data of the page at /; ${own}`,
    responses: { 200: { description: 'success', content: { [JSON_TYPE]: NodeView } } },
  },
  devnetLive: {
    ...shared,
    id: 'devnetLive',
    path: '/devnet/live',
    group: 'devnet',
    summary: `an event view with all of /devnet/view, then change events with new items; ${own}`,
    responses: {
      200: { description: 'a stream of events', content: { [EVENT_STREAM]: Type.String() } },
      503: { description: 'too many streams', content: { [TEXT]: Type.String() } },
    },
  },
} as const satisfies Record<string, Operation>
