/** Bodies of the control requests below /devnet/ that concern commands: dropping them, and impersonation of signers. */
import { HashText } from './bodies.ts'
import { type Static, Type } from './typebox.ts'

/** Maximum number of elements of a list: the node handles a request in one go. */
const MAX_LISTED = 10_000
/** Maximum length of code, in characters. */
const MAX_CODE = 1_000_000
/** Maximum number of keys that count as signers. */
const MAX_SIGNERS = 100

/** Which pending transactions to drop: one of these fields. */
export const DropRequest = Type.Object(
  {
    requestKeys: Type.Optional(Type.Array(HashText, { minItems: 1, maxItems: MAX_LISTED })),
    all: Type.Optional(Type.Literal(true, { description: 'all pending transactions of all chains' })),
  },
  { additionalProperties: false },
)
export type DropRequest = Static<typeof DropRequest>

/** Transactions that were dropped. */
export const DropResult = Type.Object({
  dropped: Type.Record(Type.String({ pattern: '^[0-9]+$' }), Type.Array(HashText), {
    description: 'chain: request keys of transactions that were pending',
  }),
  notPending: Type.Array(HashText, { description: 'request keys that were pending on no chain' }),
})
export type DropResult = Static<typeof DropResult>

/** Code to run with privileges. */
export const RunRequest = Type.Object(
  {
    chain: Type.Integer({ minimum: 0 }),
    code: Type.String({ minLength: 1, maxLength: MAX_CODE }),
    data: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'message data' })),
    keys: Type.Optional(
      Type.Array(Type.String(), { maxItems: MAX_SIGNERS, description: 'public keys that count as signers' }),
    ),
    admin: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        maxItems: MAX_LISTED,
        description: 'modules on which the code has admin rights',
      }),
    ),
    caps: Type.Optional(
      Type.Array(Type.Object({ name: Type.String({ minLength: 1 }), args: Type.Array(Type.Unknown()) }), {
        maxItems: MAX_LISTED,
        description: 'capabilities that are granted; a managed one is installed',
      }),
    ),
  },
  { additionalProperties: false },
)
export type RunRequest = Static<typeof RunRequest>
export const RunResult = Type.Object({
  requestKey: HashText,
  height: Type.Integer({ minimum: 0 }),
  hash: HashText,
  gas: Type.Number({ description: 'used, but not paid' }),
  result: Type.Unknown({ description: 'as in poll' }),
  events: Type.Unknown(),
})

/** Rows to write, by key. */
export const RowsRequest = Type.Object(
  {
    chain: Type.Integer({ minimum: 0 }),
    table: Type.String({ minLength: 1, maxLength: 1000, description: 'such as coin.coin-table' }),
    rows: Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
      minProperties: 1,
      maxProperties: MAX_LISTED,
      description: 'key: its row; a row that exists keeps the fields that are left out',
    }),
  },
  { additionalProperties: false },
)
export type RowsRequest = Static<typeof RowsRequest>
export const RowsResult = Type.Object({
  written: Type.Integer({ minimum: 0, description: 'rows' }),
  requestKey: HashText,
  height: Type.Integer({ minimum: 0 }),
  hash: HashText,
})
export type RowsResult = Static<typeof RowsResult>

/** Gas that the node is to take. */
export const GasRequest = Type.Object(
  {
    blockLimit: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'maximum gas of a block that this node makes, and of a command; at most what the network allows',
      }),
    ),
    minPrice: Type.Optional(
      Type.Union([Type.Number(), Type.String({ maxLength: 100 })], { description: 'lowest gas price of a command' }),
    ),
  },
  { additionalProperties: false },
)
export type GasRequest = Static<typeof GasRequest>
export const GasState = Type.Object({
  blockLimit: Type.Integer({ minimum: 1 }),
  minPrice: Type.String({ description: 'decimal number of coins' }),
})
export type GasState = Static<typeof GasState>

/** Keys to impersonate, or no longer. */
export const ImpersonateRequest = Type.Object(
  {
    keys: Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), {
      maxItems: MAX_LISTED,
      description: 'public keys in hex, accounts k:KEY, or * for every key',
    }),
    on: Type.Boolean(),
  },
  { additionalProperties: false },
)
export const ImpersonateResult = Type.Object({
  keys: Type.Array(Type.String(), { description: 'public keys whose signatures are not checked, or *' }),
})

/**
 * Reads a key to impersonate: a public key, its account `k:KEY`, the key of an authenticator, or `*`.
 * @returns the key, or null if the text is none
 */
export function impersonatedKey(text: string): string | null {
  const [, key] = /^(?:k:)?([0-9a-f]{64})$/.exec(text) ?? []
  if (key !== undefined) return key
  return text === '*' || /^(WEBAUTHN-)?([0-9a-f]{2}){33,500}$/.test(text) ? text : null
}
