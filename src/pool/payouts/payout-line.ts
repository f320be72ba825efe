/**
 * The lines of a payout journal, as JSON. Each decision is one line, written before newcut acts on it.
 *
 * - `credit`: a block counts, with its division among payees. A block has one such line.
 * - `orphaned`, `restored`: a credited block has left its chain, or is back.
 * - `order`: a signed transaction and its payments. It is sent after the line is on disk.
 * - `result`: the final result of a payout.
 *
 * The life of a payout, an `order` with its result:
 *
 * 1. Blocks are deep enough: their credits make a balance due (ledger.ts).
 * 2. `payBalances` signs a transaction for many balances, tries it out, writes the `order` and sends it. Until then
 *    nothing is owed less.
 * 3. It is pending: newcut resends the same bytes while a block may take them. A reorg makes it pending again.
 * 4. A block has it, and that block becomes deep: the result is `paid` or `failed`, read from the block itself.
 * 5. Or a deep block is too late for it, and no block up to there has it: the result is `expired`.
 * 6. After `failed` and `expired` its amounts are due again, and another payout pays them.
 */
import { type Static, Type } from '#ground/schema/typebox.ts'
import { validatorOf } from '#ground/schema/validator.ts'

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Text = Type.String({ maxLength: 4000 })
/** UTC, ISO 8601. */
const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' })
/** 32 bytes, base64url. */
const Hash = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })
/** Coins, with at most 12 decimal places. */
const Coins = Type.String({ pattern: '^\\d{1,30}\\.\\d{1,12}$' })
const Decimal = Type.String({ pattern: '^\\d{1,30}(\\.\\d{1,30})?$' })
const Whole = Type.String({ pattern: '^\\d{1,200}$' })

const Position = Type.Object({ timeMs: Type.Number(), id: Text })
const Span = Type.Object({ after: Type.Union([Position, Type.Null()]), upTo: Position })

const CreditLine = Type.Object({
  at: Time,
  type: Type.Literal('credit'),
  network: Text,
  /** The account that the coinbase paid. */
  account: Text,
  block: Hash,
  chain: Count,
  height: Count,
  foundMs: Type.Number(),
  /** The user whose share is the block. */
  finder: Text,
  scheme: Type.Union([Type.Literal('pplns'), Type.Literal('prop'), Type.Literal('solo')]),
  /** In blocks. */
  window: Decimal,
  /** Per cent. */
  feePercent: Decimal,
  reward: Coins,
  fee: Coins,
  rest: Coins,
  /** `worth`: in 2^-96 blocks. */
  parts: Type.Array(Type.Object({ payee: Text, amount: Coins, shares: Count, worth: Whole })),
  /** The shares of the block's round, which later rounds exclude. */
  round: Type.Array(Span),
})
export type CreditLine = Readonly<Static<typeof CreditLine>>

/** Payment of a payout to one account, and the blocks that it is for. */
const PaidAmount = Type.Object({
  account: Text,
  amount: Coins,
  for: Type.Array(Type.Object({ block: Hash, amount: Coins })),
})
export type PaidAmount = Readonly<Static<typeof PaidAmount>>

const SentLine = Type.Object({
  at: Time,
  type: Type.Literal('order'),
  network: Text,
  account: Text,
  chain: Count,
  requestKey: Hash,
  /** Unix time in seconds. A block cannot include the transaction if its parent was made at or after this time. */
  expires: Count,
  command: Type.Object({
    hash: Hash,
    sigs: Type.Array(Type.Object({ sig: Text })),
    cmd: Type.String({ maxLength: 2_000_000 }),
  }),
  /** Coins. Lower balances were carried over. */
  minimum: Type.Optional(Coins),
  pays: Type.Array(PaidAmount),
})
export type SentLine = Readonly<Static<typeof SentLine>>

const ResultLine = Type.Object({
  at: Time,
  type: Type.Literal('result'),
  requestKey: Hash,
  /** `failed`: it is in a block, but moved nothing. `expired`: it is in no block, and never will be. */
  outcome: Type.Union([Type.Literal('paid'), Type.Literal('failed'), Type.Literal('expired')]),
  /** Height of its block, or null if it expired. */
  height: Type.Union([Count, Type.Null()]),
  message: Text,
})
export type ResultLine = Readonly<Static<typeof ResultLine>>

const FateLine = Type.Object({
  at: Time,
  type: Type.Union([Type.Literal('orphaned'), Type.Literal('restored')]),
  block: Hash,
})

export const PayoutLine = Type.Union([CreditLine, FateLine, SentLine, ResultLine])
export type PayoutLine = Readonly<Static<typeof PayoutLine>>

/** @returns null if the text is not a valid line */
export function parsePayoutLine(text: string): PayoutLine | null {
  try {
    const line: unknown = JSON.parse(text)
    return validatorOf(PayoutLine).accepts(line) ? (line as PayoutLine) : null
  } catch {
    return null
  }
}
