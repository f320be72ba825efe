/**
 * Text format of the journal: one JSON line for each step of a solution. The first line contains the solved work, so
 * that it can be resubmitted after a crash; later lines contain changes.
 */

import { AMOUNT } from '#ground/base/coins.ts'
import type { StepName } from '#ground/chain/solution.ts'
import { type Static, Type, Value } from '#ground/schema/typebox.ts'
import { unsealJournalLine } from './line-seal.ts'

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Text = Type.String({ maxLength: 2000 })
/** UTC, ISO 8601. */
const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' })
/** 32 bytes, base64url. */
const Hash = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })
/** Coins, as a decimal number. */
const Coins = Type.String({ pattern: AMOUNT })
const named = { at: Time, hash: Hash }

const FoundLine = Type.Object({
  ...named,
  step: Type.Literal('found'),
  network: Text,
  account: Text,
  issuer: Text,
  chain: Count,
  height: Count,
  device: Text,
  /** Hashes spent on the solution, relative to the average per solution. */
  effort: Type.Number({ minimum: 0 }),
  difficulty: Type.Number({ minimum: 0 }),
  /** Solved work bytes, base64url. */
  work: Type.String({ pattern: '^[A-Za-z0-9_-]{200,4000}$' }),
})
type FoundLine = Readonly<Static<typeof FoundLine>>

const PlainStep = Type.Union([Type.Literal('handed-in'), Type.Literal('acknowledged'), Type.Literal('credited')])
const LostStep = Type.Union([Type.Literal('stale'), Type.Literal('orphaned')])
export const JournalLine = Type.Union([
  FoundLine,
  Type.Object({ ...named, step: PlainStep }),
  /** `mayReturn`: the competing block is not deep yet. */
  Type.Object({ ...named, step: LostStep, mayReturn: Type.Optional(Type.Boolean()) }),
  Type.Object({ ...named, step: Type.Literal('confirmed'), depth: Count }),
  Type.Object({ ...named, step: Type.Literal('unconfirmed'), message: Text }),
  Type.Object({ ...named, step: Type.Literal('rejected'), reason: Text, message: Text }),
  /** `mayReturn`: the block may be in the chain nevertheless. */
  Type.Object({
    ...named,
    step: Type.Literal('lost'),
    reason: Text,
    message: Text,
    mayReturn: Type.Optional(Type.Boolean()),
  }),
  /** Reward of the block, and the fees of its transactions if they are known. */
  Type.Object({ ...named, step: Type.Literal('reward'), amount: Coins, fees: Type.Optional(Coins) }),
])
export type JournalLine = Readonly<Static<typeof JournalLine>>

/** A solution and its latest state. */
export interface BlockRecord extends Omit<FoundLine, 'at' | 'step'> {
  /** UTC, ISO 8601. */
  readonly foundAt: string
  readonly state: StepName
  /** Latest known depth of a confirmed block; 1 is the head of its chain. */
  readonly depth: number | null
  /** For stale, orphaned or lost solutions: true if their chain was not settled, so that later steps may follow. */
  readonly mayReturn: boolean
  /** Reason for rejection or loss. */
  readonly reason: string | null
  readonly message: string | null
  /** In coins; null if unknown. */
  readonly reward: string | null
  /** Fees of its transactions, in coins; null if unknown. */
  readonly fees: string | null
}

/**
 * Parses a line, and checks its seal if it has one.
 * @param bytes without the newline
 * @returns null if the line is damaged, such as the last one before a power cut
 */
export function parseLine(bytes: Uint8Array): JournalLine | null {
  const text = unsealJournalLine(bytes)
  if (text === null) return null
  try {
    const line: unknown = JSON.parse(text)
    return Value.Check(JournalLine, line) ? line : null
  } catch {
    return null
  }
}

/**
 * Applies a line to a record.
 * @returns null if the first line of the solution is missing
 */
export function applyLine(record: BlockRecord | undefined, line: JournalLine): BlockRecord | null {
  if (line.step === 'found') {
    const { at, step, hash, network, account, issuer, chain, height, device, effort, difficulty, work } = line
    const facts = { hash, network, account, issuer, chain, height, device, effort, difficulty, work }
    const unknown = { depth: null, mayReturn: false, reason: null, message: null, reward: null, fees: null }
    return record ?? Object.assign(facts, { foundAt: at, state: step }, unknown)
  }
  if (record === undefined) return null
  if (line.step === 'reward') return { ...record, reward: line.amount, fees: line.fees ?? null }
  const depth = line.step === 'confirmed' ? line.depth : null
  const mayReturn = 'mayReturn' in line && line.mayReturn === true
  const reason = 'reason' in line ? line.reason : null
  const message = 'message' in line ? line.message : null
  return { ...record, state: line.step, depth, mayReturn, reason, message }
}
