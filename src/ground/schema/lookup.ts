/** Lookups of an embedded node: transactions and events by name in pages, modules and tables. */
import { Command, HashText } from './bodies.ts'
import { JSON_TYPE, json, None, type Operation, TEXT } from './operation.ts'
import { type Static, Type } from './typebox.ts'

/** Maximum number of items of a page. */
export const MAX_LOOKUP_ITEMS = 200
export const DEFAULT_LOOKUP_ITEMS = 50
/** Maximum length of a name, key or cursor in a request. */
const MAX_NAME_LENGTH = 2048

const Natural = Type.Integer({ minimum: 0 })
const Name = Type.String({ maxLength: MAX_NAME_LENGTH })
const Maybe = (description: string) => Type.Union([Type.String(), Type.Null()], { description })
const Milliseconds = Type.Number({ description: 'milliseconds since the UNIX epoch' })
const limit = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: MAX_LOOKUP_ITEMS,
    description: `items at most; default ${DEFAULT_LOOKUP_ITEMS}`,
  }),
)
const cursor = (description: string) => Type.Optional({ ...Name, description })
const onChain = Type.Optional({ ...Natural, description: 'only of this chain; default: of all' })
const ofChain = Type.Optional({ ...Natural, description: 'chain; default 0' })

/** Place in a block. */
const placeFields = {
  requestKey: Type.String(),
  chain: Natural,
  height: Natural,
  block: HashText,
  isOrphan: Type.Boolean({ description: 'true if its block is not on its chain now' }),
  createdMs: Milliseconds,
}

/** A transaction of a block in a list: who sent it, and its result. */
export const outcome = {
  sender: Type.String(),
  what: Type.String({ description: 'the beginning of its code' }),
  status: Type.String({ description: 'success or failure' }),
  gas: Type.Number(),
  fault: Type.Optional(Type.String({ description: 'why it failed' })),
}

export const ListedTransaction = Type.Object({
  ...placeFields,
  index: { ...Natural, description: 'position in its block' },
  ...outcome,
})

export const PendingView = Type.Object({
  key: Type.String({ description: 'request key' }),
  chain: Natural,
  sender: Type.String(),
  what: Type.String({ description: 'the beginning of its code' }),
  gasPrice: Type.Number(),
  gasLimit: Type.Number(),
  sinceMs: Milliseconds,
})

const TransactionPage = Type.Object({
  transactions: Type.Array(ListedTransaction, { description: 'of the newest blocks first' }),
  pending: Type.Optional(
    Type.Array(PendingView, { description: 'those of the mempools, newest first; only with status=pending' }),
  ),
  next: Maybe('parameter `next` of the following page; null on the last one. A page may be empty and have one'),
  searchedTo: Type.Union([Milliseconds, Type.Null()], { description: 'time of the last block that was searched' }),
})

export const TransactionDetails = Type.Object({
  requestKey: Type.String(),
  command: Command,
  pendingOn: Type.Union([Natural, Type.Null()], { description: 'chain whose mempool has it' }),
  blocks: Type.Array(
    Type.Object({
      chain: Natural,
      height: Natural,
      hash: HashText,
      index: Natural,
      isOrphan: Type.Boolean(),
      createdMs: Milliseconds,
      result: Type.Unknown({ description: 'as poll returns it' }),
    }),
    { description: 'that of its chain first, then orphans' },
  ),
})

export const ListedEvent = Type.Object({
  ...placeFields,
  index: { ...Natural, description: 'position among the events of its block' },
  module: Type.String({ description: 'with its namespace' }),
  name: Type.String(),
  params: Type.Array(Type.Unknown(), { description: 'as in results' }),
  moduleHash: Type.String(),
})

const EventPage = Type.Object({
  events: Type.Array(ListedEvent),
  next: Maybe('parameter `next` of the following page; null after the last. With order=oldest, it is always there'),
  searchedTo: Type.Union([Milliseconds, Type.Null()], { description: 'time of the last block that was searched' }),
})

const ModuleList = Type.Object({
  chain: Natural,
  height: { ...Natural, description: 'of the block whose state this is' },
  modules: Type.Array(
    Type.Object({
      name: Type.String(),
      isFetched: Type.Boolean({
        description: 'false on a fork for a module of the live network that nothing has read',
      }),
    }),
  ),
  newest: Type.Union([Type.Object({ chain: Natural, name: Type.String() }), Type.Null()], {
    description:
      'of all chains: the module that was deployed last; null while there are only those of the first blocks',
  }),
  note: Maybe('what is not listed'),
})

const Parameter = Type.Object({ name: Type.String(), type: Maybe('as written; null if there is none') })
const member = { name: Type.String(), doc: Maybe('its docstring') }
const Callable = Type.Object({
  ...member,
  params: Type.Array(Parameter),
  result: Maybe('declared type of the result'),
})

export const ModuleDetails = Type.Object({
  chain: Natural,
  name: Type.String({ description: 'with its namespace' }),
  kind: Type.Union([Type.Literal('module'), Type.Literal('interface')]),
  hash: Type.String(),
  doc: Maybe('its docstring'),
  txHash: Type.String({ description: 'hash of the command that deployed it' }),
  governance: Maybe('keyset name, or capability, that may upgrade it; null for an interface'),
  interfaces: Type.Array(Type.String()),
  blessed: Type.Array(Type.String(), { description: 'hashes of earlier versions that remain valid' }),
  code: Type.String(),
  functions: Type.Array(Callable),
  pacts: Type.Array(Callable),
  capabilities: Type.Array(
    Type.Object({ ...Callable.properties, mark: Maybe('@event, or @managed with its parameter and manager') }),
  ),
  schemas: Type.Array(Type.Object({ ...member, fields: Type.Array(Parameter) })),
  tables: Type.Array(Type.Object({ ...member, schema: Maybe('as written'), isCreated: Type.Boolean() })),
  constants: Type.Array(
    Type.Object({ ...member, type: Maybe('as written'), value: Type.String({ description: 'code' }) }),
  ),
})

const RowPage = Type.Object({
  chain: Natural,
  height: { ...Natural, description: 'of the block whose state this is' },
  table: Type.String(),
  fields: Type.Union([Type.Array(Parameter), Type.Null()], { description: 'of its schema; null for a table without' }),
  rows: Type.Array(Type.Object({ key: Type.String(), row: Type.Unknown({ description: 'as in results' }) }), {
    description: 'ordered by key',
  }),
  total: { ...Natural, description: 'rows that are listed on all pages' },
  next: Maybe('parameter `next` of the following page; null on the last one'),
  note: Maybe('what is not listed'),
})

const AccountDetails = Type.Object({
  account: Type.String(),
  chains: Type.Array(
    Type.Object({
      chain: Natural,
      height: { ...Natural, description: 'of the block whose state this is' },
      balance: Maybe('coins; null if the chain does not have the account'),
      guard: Type.Unknown({ description: 'as in results; null if the chain does not have the account' }),
    }),
  ),
})

const SearchHit = Type.Object({
  kind: Type.Union([
    Type.Literal('transaction'),
    Type.Literal('block'),
    Type.Literal('account'),
    Type.Literal('module'),
  ]),
  name: Type.String({ description: 'request key, block hash, account, or module with its namespace' }),
  chain: Type.Union([Natural, Type.Null()], { description: 'null for an account; the lowest that has the module' }),
  height: Type.Union([Natural, Type.Null()], { description: 'of a block' }),
})

export const SearchAnswer = Type.Object({
  hits: Type.Array(SearchHit, { description: 'what the text names' }),
  guesses: Type.Array(SearchHit, { description: 'similar names, if there is no hit' }),
})

export type PendingView = Static<typeof PendingView>
export type AccountDetails = Static<typeof AccountDetails>
export type SearchHit = Static<typeof SearchHit>
export type SearchAnswer = Static<typeof SearchAnswer>
export type ListedTransaction = Static<typeof ListedTransaction>
export type TransactionPage = Static<typeof TransactionPage>
export type TransactionDetails = Static<typeof TransactionDetails>
export type ListedEvent = Static<typeof ListedEvent>
export type EventPage = Static<typeof EventPage>
export type ModuleList = Static<typeof ModuleList>
export type ModuleDetails = Static<typeof ModuleDetails>
export type CallableFunction = Static<typeof Callable>
export type RowPage = Static<typeof RowPage>

const shared = { method: 'GET', scope: 'root', group: 'devnet', params: None } as const
const text = (description: string) => ({ description, content: { [TEXT]: Type.String() } })
const noBlock = text('no block has this hash, or there is no such chain')
const fromLive = { 502: text('the forked node does not report it') }

export const lookupOperations = {
  devnetTransactions: {
    ...shared,
    id: 'devnetTransactions',
    path: '/devnet/transactions',
    summary: 'transactions in blocks, the newest first, orphans included; without those of the first blocks',
    query: Type.Object({
      chain: onChain,
      sender: Type.Optional({ ...Name, description: 'only of this account, which pays for gas' }),
      status: Type.Optional(
        Type.Union(
          [Type.Literal('success'), Type.Literal('failure'), Type.Literal('orphaned'), Type.Literal('pending')],
          {
            description: 'only those with this result, orphaned ones, or those of the mempools; default: all in blocks',
          },
        ),
      ),
      limit,
      next: cursor('`next` of the page before'),
    }),
    responses: { 200: json(TransactionPage, 'a page of transactions'), 404: noBlock },
  },
  devnetTransaction: {
    ...shared,
    id: 'devnetTransaction',
    path: '/devnet/transaction',
    summary: 'a transaction with its command, and all blocks that have it',
    query: Type.Object({ requestKey: { ...Name, description: 'request key' } }),
    responses: {
      200: { description: 'success', content: { [JSON_TYPE]: TransactionDetails } },
      404: text('no block and no mempool has it'),
    },
  },
  devnetEvents: {
    ...shared,
    id: 'devnetEvents',
    path: '/devnet/events',
    summary: 'events of transactions by name, over all blocks; without those of mining rewards and of the first blocks',
    query: Type.Object({
      name: Type.Optional({
        ...Name,
        description: '`coin.TRANSFER`, `TRANSFER` of any module, `coin.*` or `free.*`, a namespace; default: all',
      }),
      account: Type.Optional({ ...Name, description: 'only those that have this text as a parameter' }),
      chain: onChain,
      minheight: Type.Optional({ ...Natural, description: 'only of blocks at this height or above' }),
      maxheight: Type.Optional({ ...Natural, description: 'only of blocks at this height or below' }),
      order: Type.Optional(
        Type.Union([Type.Literal('newest'), Type.Literal('oldest')], {
          description: 'newest first (default), or oldest first: then `next` is also the place where new blocks go on',
        }),
      ),
      orphans: Type.Optional(Type.Boolean({ description: 'also events of blocks that are not on their chain' })),
      limit,
      next: cursor('`next` of the page before'),
    }),
    responses: { 200: json(EventPage, 'a page of events'), 404: noBlock },
  },
  devnetModules: {
    ...shared,
    id: 'devnetModules',
    path: '/devnet/modules',
    summary: 'names of the modules and interfaces of a chain',
    query: Type.Object({ chain: ofChain }),
    responses: { 200: json(ModuleList), 404: text('no such chain'), ...fromLive },
  },
  devnetModule: {
    ...shared,
    id: 'devnetModule',
    path: '/devnet/module',
    summary: 'a module with its code, members, docstrings and tables',
    query: Type.Object({ chain: ofChain, name: { ...Name, description: 'with its namespace' } }),
    responses: { 200: json(ModuleDetails), 404: text('no such chain or module'), ...fromLive },
  },
  devnetTable: {
    ...shared,
    id: 'devnetTable',
    path: '/devnet/table',
    summary: 'rows of a table, ordered by key',
    query: Type.Object({
      chain: ofChain,
      name: { ...Name, description: 'table with its module: `coin.coin-table`' },
      search: Type.Optional({ ...Name, description: 'only rows whose key contains this text' }),
      key: Type.Optional({ ...Name, description: 'only the row with this key; on a fork, it is fetched' }),
      limit,
      next: cursor('`next` of the page before: the last key of it'),
    }),
    responses: { 200: json(RowPage, 'a page of rows'), 404: text('no such chain, module or table'), ...fromLive },
  },
  devnetAccount: {
    ...shared,
    id: 'devnetAccount',
    path: '/devnet/account',
    summary: 'an account on all chains: its balance in coins and its guard',
    query: Type.Object({ account: { ...Name, description: 'name of the account' } }),
    responses: { 200: json(AccountDetails), ...fromLive },
  },
  devnetSearch: {
    ...shared,
    id: 'devnetSearch',
    path: '/devnet/search',
    summary: 'what a text names: a transaction, a block, an account or a module; shortened with … too',
    query: Type.Object({ text: { ...Name, description: 'request key, block hash or height, account, or module' } }),
    responses: { 200: json(SearchAnswer), ...fromLive },
  },
} as const satisfies Record<string, Operation>
