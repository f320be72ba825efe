/**
 * The journal of solutions, as text: a line of JSON for each step in the life of a solution. The first line of a life
 * holds the solved work, so that it can be handed in after a crash; later lines hold what changed.
 */

import { mayGoOn, type StepName } from '../core/solution.ts'
import { type Static, Type, Value } from '../schema/typebox.ts'

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Text = Type.String({ maxLength: 2000 })
/** UTC, ISO 8601. */
const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' })
/** 32 bytes, base64url. */
const Hash = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })
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
  /** Hashes spent on it, in units of what a solution takes on average. */
  effort: Type.Number({ minimum: 0 }),
  difficulty: Type.Number({ minimum: 0 }),
  /** Solved work bytes, base64url. */
  work: Type.String({ pattern: '^[A-Za-z0-9_-]{200,4000}$' }),
})
export type FoundLine = Readonly<Static<typeof FoundLine>>

const PlainStep = Type.Union([Type.Literal('handed-in'), Type.Literal('acknowledged'), Type.Literal('credited')])
const LostStep = Type.Union([Type.Literal('stale'), Type.Literal('orphaned')])
export const Line = Type.Union([
  FoundLine,
  Type.Object({ ...named, step: PlainStep }),
  /** `mayReturn`: the block in its place does not lie deep yet. */
  Type.Object({ ...named, step: LostStep, mayReturn: Type.Optional(Type.Boolean()) }),
  Type.Object({ ...named, step: Type.Literal('confirmed'), depth: Count }),
  Type.Object({ ...named, step: Type.Literal('unconfirmed'), message: Text }),
  Type.Object({ ...named, step: Type.Literal('rejected'), reason: Text, message: Text }),
  /** `mayReturn`: its block may be in the chain all the same. */
  Type.Object({
    ...named,
    step: Type.Literal('lost'),
    reason: Text,
    message: Text,
    mayReturn: Type.Optional(Type.Boolean()),
  }),
  /** What the block paid, in coins: a decimal number. */
  Type.Object({
    ...named,
    step: Type.Literal('reward'),
    amount: Type.String({ pattern: '^\\d{1,20}(\\.\\d{1,20})?$' }),
  }),
])
export type Line = Readonly<Static<typeof Line>>

/** A solution, and how far it has come. */
export interface BlockRecord extends Omit<FoundLine, 'at' | 'step'> {
  /** UTC, ISO 8601. */
  readonly foundAt: string
  readonly state: StepName
  /** Of a block that is confirmed: 1 is the head of its chain. The newest that is known. */
  readonly depth: number | null
  /** Of one that is stale, orphaned or lost: whether more may become of it, as its chain was not settled then. */
  readonly mayReturn: boolean
  /** Why it was rejected or lost. */
  readonly reason: string | null
  readonly message: string | null
  /** In coins; null: not known. */
  readonly reward: string | null
}

/** A line of text; null for one that is damaged, such as the last one before a power cut. */
export function parseLine(text: string): Line | null {
  try {
    const line: unknown = JSON.parse(text)
    return Value.Check(Line, line) ? line : null
  } catch {
    return null
  }
}

/** The record after this line; null: the line belongs to a solution whose first line is missing. */
export function afterLine(record: BlockRecord | undefined, line: Line): BlockRecord | null {
  if (line.step === 'found') {
    const { at, step, ...found } = line
    const unknown = { depth: null, mayReturn: false, reason: null, message: null, reward: null }
    return record ?? { ...found, foundAt: at, state: step, ...unknown }
  }
  if (record === undefined) return null
  if (line.step === 'reward') return { ...record, reward: line.amount }
  const depth = line.step === 'confirmed' ? line.depth : null
  const mayReturn = 'mayReturn' in line && line.mayReturn === true
  const reason = 'reason' in line ? line.reason : null
  const message = 'message' in line ? line.message : null
  return { ...record, state: line.step, depth, mayReturn, reason, message }
}

/** Whether more may become of a solution of the journal. */
export const isUnfinished = ({ state, ...told }: BlockRecord, confirmations: number): boolean =>
  mayGoOn({ step: state, ...told }, confirmations)
