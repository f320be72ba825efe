/** Pacts of an embedded node: their steps in blocks, and what the next step waits for. */
import { HashText } from './bodies.ts'
import { DEFAULT_LOOKUP_ITEMS, MAX_LOOKUP_ITEMS } from './lookup.ts'
import { JSON_TYPE, json, None, type Operation, TEXT } from './operation.ts'
import { type Static, Type } from './typebox.ts'

const Natural = Type.Integer({ minimum: 0 })
const Maybe = (description: string) => Type.Union([Natural, Type.Null()], { description })

/** A command in a block that ran a step, or failed to. */
const attempt = {
  requestKey: Type.String(),
  chain: Natural,
  height: Natural,
  block: HashText,
  createdMs: Type.Number({ description: 'milliseconds since the UNIX epoch' }),
  step: { ...Natural, description: 'number of the step, from 0' },
  isRollback: Type.Boolean(),
}

const ListedStep = Type.Object({
  ...attempt,
  targetChain: Maybe('chain to which the step yields; null if it yields to no chain'),
})

const PactFailure = Type.Object({ ...attempt, fault: Type.String({ description: 'why it failed' }) })

const NextPactStep = Type.Object({
  step: Natural,
  chain: { ...Natural, description: 'chain that runs it' },
  proofOf: Type.Union([Type.Object({ chain: Natural, requestKey: Type.String() }), Type.Null()], {
    description: 'the step on another chain that the continuation must prove; null if it needs no proof',
  }),
  missingBlocks: Maybe('blocks that the chain lacks until the proof exists; null if the network has no such chain'),
  hasRollback: Type.Boolean({ description: 'true if the last step can be rolled back instead' }),
  pendingKey: Type.Union([Type.String(), Type.Null()], { description: 'a pending continuation' }),
})

/**
 * - `waiting`: blocks are missing until the proof exists
 * - `ready`: the next step can run
 * - `pending`: a mempool has the next step
 * - `failed`: the next step can run, and the last attempt failed
 * - `unreachable`: the next step belongs to a chain that the network does not have, or its proof to the forked network
 */
const PactProgress = Type.Union([
  Type.Literal('waiting'),
  Type.Literal('ready'),
  Type.Literal('pending'),
  Type.Literal('failed'),
  Type.Literal('unreachable'),
  Type.Literal('finished'),
  Type.Literal('rolled back'),
])

export const ListedPact = Type.Object({
  pactId: Type.String({ description: 'request key of the first step' }),
  name: Type.String({ description: 'of the pact, with its module' }),
  args: Type.Array(Type.Unknown(), { description: 'as in results' }),
  stepCount: Natural,
  state: PactProgress,
  steps: Type.Array(ListedStep, { description: 'that have run, ascending' }),
  failures: Type.Array(PactFailure, { description: 'the newest attempts that failed, newest first' }),
  next: Type.Union([NextPactStep, Type.Null()], { description: 'null after the last step or a rollback' }),
  note: Type.Optional(Type.String({ description: 'on a fork: what nodes do not report about steps below the pin' })),
})

export const PactPage = Type.Object({
  pacts: Type.Array(ListedPact, { description: 'unfinished ones first, then the newest first' }),
  open: { ...Natural, description: 'unfinished pacts on all pages' },
  finished: { ...Natural, description: 'finished pacts on all pages' },
  next: Type.Union([Type.String(), Type.Null()], {
    description: 'parameter `next` of the following page; null on the last one',
  }),
  unread: { ...Natural, description: 'blocks that the node has not searched yet; repeat the request to continue' },
})

/**
 * A pact, such as a transfer between chains: the steps that have run, and what the next one waits for.
 * @interface
 */
export type ListedPact = Static<typeof ListedPact>
export type ListedStep = Static<typeof ListedStep>
export type PactFailure = Static<typeof PactFailure>
export type NextPactStep = Static<typeof NextPactStep>
export type PactProgress = Static<typeof PactProgress>
/**
 * A page of pacts: unfinished ones first, then the newest first.
 * @interface
 */
export type PactPage = Static<typeof PactPage>

const KnownAccounts = Type.Object({
  accounts: Type.Array(
    Type.Object({
      account: Type.String(),
      publicKey: Type.String({ description: 'Ed25519, hex' }),
      secretKey: Type.String({ description: 'published: worthless on other networks' }),
    }),
  ),
})
export type KnownAccounts = Static<typeof KnownAccounts>

const shared = { method: 'GET', scope: 'root', group: 'devnet', params: None } as const
const text = (description: string) => ({ description, content: { [TEXT]: Type.String() } })

export const pactOperations = {
  devnetPacts: {
    ...shared,
    id: 'devnetPacts',
    path: '/devnet/pacts',
    summary: 'pacts, such as transfers between chains: steps in blocks, and what the next step waits for',
    query: Type.Object({
      open: Type.Optional(Type.Boolean({ description: 'only unfinished ones' })),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MAX_LOOKUP_ITEMS,
          description: `items at most; default ${DEFAULT_LOOKUP_ITEMS}`,
        }),
      ),
      next: Type.Optional(Type.String({ maxLength: 64, description: '`next` of the page before' })),
      pactId: Type.Optional(
        Type.String({ maxLength: 64, description: 'only this pact; on a fork, also one that began below the pin' }),
      ),
    }),
    responses: {
      200: json(PactPage, 'a page of pacts'),
      404: text('the node has no such pact'),
      502: text('the forked node does not report it'),
    },
  },
  devnetAccounts: {
    ...shared,
    id: 'devnetAccounts',
    path: '/devnet/accounts',
    forThisMachine: true,
    summary: 'accounts that the node funded, with their published keys',
    query: None,
    responses: {
      200: { description: 'success', content: { [JSON_TYPE]: KnownAccounts } },
      403: text('not from this machine'),
    },
  },
} as const satisfies Record<string, Operation>
