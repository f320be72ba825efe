/**
 * Messages between leader and rigs of a fleet over NATS: JSON, on subjects that begin with `newcut.NAME`.
 *
 *     newcut.NAME.job         leader -> all rigs          the new job
 *     newcut.NAME.report      rig -> leader, answered     work done; the answer renews the rig's lease
 *     newcut.NAME.candidate   rig -> JetStream -> leader  solved work, stored until the leader has submitted it
 *     newcut.NAME.share       relay -> JetStream          an accepted share, stored for the accounts
 *     newcut.NAME.unshared    relay -> JetStream          counts of refused shares
 *     newcut.NAME.outcome     rig -> leader, answered     the outcome of a candidate
 *     newcut.NAME.standby     leader <-> standbys         whether they have a node
 *     newcut.NAME.list        any -> leader, answered     the rigs
 *     newcut.NAME.order       any -> leader, answered     pause or resume rigs
 *
 * A lease is the right to a 16-bit value, the low bits of every nonce that the rig tries. Two rigs hold the same lease
 * at most until one of them reports.
 *
 * A relay, which serves stratum rigs, also has a residue: headers of its own, for which its rigs may try every nonce.
 */

import { FormatError } from '#ground/base/errors.ts'
import { parsePlainJson } from '#ground/base/json.ts'
import { settledVerdicts } from '#ground/chain/solution.ts'
import { literals } from '#ground/schema/literals.ts'
import { type Static, type TSchema, Type } from '#ground/schema/typebox.ts'
import { validatorOf } from '#ground/schema/validator.ts'

/**
 * A lease expires after this time without renewal, for the rig and for the leader. The life of a lease:
 *
 * 1. A rig reports without a lease. The leader's table assigns a free one, and the answer contains it.
 * 2. Each later report renews it, counted from the moment when the rig sent the report.
 * 3. Without an answer for this time, the rig stops searching: its lease is over. Its table row is removed as well.
 * 4. A new leader knows no leases. Rigs claim theirs in their next report, and keep it unless another rig has it.
 */
export const LEASE_MS = 10_000
/** Number of leases. */
export const LEASES = 2 ** 16
export const LEASE_BITS = 16

/**
 * Creation times, in microseconds, tell headers apart. Devices of rigs search multiples of OWN_STEP and advance by
 * whole milliseconds. Stratum rigs of a relay search one residue modulo HEADER_MODULUS, never a multiple of OWN_STEP,
 * with all nonces.
 */
export const OWN_STEP = 8
export const HEADER_MODULUS = 4096
/** A residue passes to another relay after this time without a report of its holder. */
export const RESIDUE_MS = 15 * 60_000
/** A relay may use its residue for this time after its last answered report. No job lives longer. */
export const RELAY_ALONE_MS = 5 * 60_000

/** Fleet names are parts of NATS subjects, which are separated by dots, and of store names. */
export const FLEET_NAME = /^[A-Za-z0-9_-]{1,32}$/

/** NATS subjects and stores of a fleet. The name must match FLEET_NAME. */
export function subjectsOf(name: string) {
  const subject = (what: string) => `newcut.${name}.${what}`
  return {
    job: subject('job'),
    report: subject('report'),
    candidate: subject('candidate'),
    share: subject('share'),
    unshared: subject('unshared'),
    outcome: subject('outcome'),
    standby: subject('standby'),
    list: subject('list'),
    order: subject('order'),
    /** JetStream stream of candidates. */
    stream: `newcut-${name}-candidates`,
    /** JetStream stream of shares. */
    shares: `newcut-${name}-shares`,
    /** Key-value bucket with the leader and the paused rigs. */
    bucket: `newcut-${name}`,
  }
}
export type Subjects = ReturnType<typeof subjectsOf>

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
/** A sum over the rig's run time. At 27 GH/s it exceeds 2^53 after four days, so it loses exactness. */
const Hashes = Type.Number({ minimum: 0 })
/** Text for people; sanitize it before display. */
const Text = Type.String({ maxLength: 500 })
/** Letters, digits and punctuation without spaces. */
const Name = Type.String({ pattern: '^[!-~]{1,64}$' })
/** A host name may have 253 characters (RFC 1035, 2.3.4). Used in messages and labels, never in a subject. */
const MemberName = Type.String({ pattern: '^[!-~]{1,253}$' })
const Lease = Type.Integer({ minimum: 0, maximum: LEASES - 1 })
const Residue = Type.Integer({ minimum: 0, maximum: HEADER_MODULUS - 1 })
/** Base64url of work bytes. */
const WorkText = Type.String({ pattern: '^[A-Za-z0-9_-]{200,4000}$' })
const HashText = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })
const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const JobMessage = Type.Object({
  /** Increases with every change of the leader; messages of earlier terms are obsolete. */
  term: Count,
  /** Increases with every job of a leader. */
  number: Count,
  /** Null if there is nothing to search. */
  job: Nullable(
    Type.Object({
      /** Unique within the fleet. */
      id: Name,
      /** Source of the leader's work. */
      issuer: Text,
      /** Reason for the job: a JobReason (source/source.ts). */
      reason: Name,
      work: WorkText,
      /** A hash <= target is a solution. 64 hex digits, big-endian. */
      target: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    }),
  ),
})
export type JobMessage = Readonly<Static<typeof JobMessage>>

/** Figures of a relay about its stratum rigs. */
const relayFigures = {
  rigs: Count,
  /** Hashes per second, a part of the relay's rate; null if not known yet. */
  rate: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]),
}
export const RelayStatistics = Type.Object(relayFigures)
export type RelayStatistics = Readonly<Static<typeof RelayStatistics>>

const MemberState = Type.Union([Type.Literal('searching'), Type.Literal('paused'), Type.Literal('idle')])

/** Figures of a rig about itself. */
const figures = {
  rig: MemberName,
  version: Name,
  /** Since the rig's start. */
  hashes: Hashes,
  /** Hashes per second; null if not known yet. */
  rate: Nullable(Type.Number({ minimum: 0 })),
  state: MemberState,
  /** Reason why the rig does not search; null if it does. */
  reason: Nullable(Text),
  /** Solutions since the rig's start. */
  accepted: Count,
  refused: Count,
  /** Invalid claims of its devices since the rig's start; missing in reports of older versions. */
  hardwareErrors: Type.Optional(Count),
}

/** `residue` is the relay's current one, or null. */
const RelayReport = Type.Object({ ...relayFigures, residue: Nullable(Residue) })

const Amount = Nullable(Type.Number({ minimum: 0 }))

/**
 * Power of the rig's devices in watts, energy since its start in joules, and the hashrate of the devices that it read.
 */
const EnergyReport = Type.Object({
  watts: Amount,
  joules: Amount,
  hashrate: Amount,
  /** Searching devices without a reading, which are in none of these figures. */
  unread: Count,
})

export const MemberReport = Type.Object({
  ...figures,
  /** Missing in reports of older versions. */
  energy: Type.Optional(EnergyReport),
  /** Unique for each start of a rig. */
  session: Name,
  /** The lease that the rig holds, or null. */
  lease: Nullable(Lease),
  /** Set by relays: rigs to which others connect by stratum. */
  relay: Type.Optional(RelayReport),
  /** The newest job that the rig knows. */
  seen: Nullable(Type.Object({ term: Count, number: Count })),
})
export type MemberReport = Readonly<Static<typeof MemberReport>>

export const MemberReportAnswer = Type.Object({
  term: Count,
  /** Name of the leader. */
  leader: Name,
  /** Name of the network; `account` is the account that is paid. */
  network: Text,
  account: Text,
  /** Null if all leases are taken. */
  lease: Nullable(Lease),
  /** For relays; null if none is free or none is assigned yet. Leaders of older versions omit it. */
  residue: Type.Optional(Nullable(Residue)),
  isPaused: Type.Boolean(),
  /** The newest job, if the rig does not know it. */
  job: Nullable(JobMessage),
})
export type MemberReportAnswer = Readonly<Static<typeof MemberReportAnswer>>

/** Report of a leader or standby. */
export const NodeReport = Type.Object({
  session: Name,
  /** True if it has work from a node that answers. */
  isReady: Type.Boolean(),
})
export type NodeReport = Readonly<Static<typeof NodeReport>>

const CandidateMessage = Type.Object({
  /** Id of the solved job. */
  job: Name,
  issuer: Text,
  /** Solved work. */
  work: WorkText,
  rig: MemberName,
  session: Name,
  /** Hashes that the rig had searched by then. */
  hashes: Hashes,
})
export type CandidateMessage = Readonly<Static<typeof CandidateMessage>>

export const OutcomeQuestion = Type.Object({ hash: HashText })

export const SolutionOutcome = Type.Object({
  /** `unknown`: the leader does not know the candidate. `working`: in progress, or not confirmed yet. */
  step: literals(['unknown', 'working', ...settledVerdicts]),
  /** For `rejected` and `lost`. */
  reason: Type.Optional(Name),
  message: Type.Optional(Text),
})
export type SolutionOutcome = Readonly<Static<typeof SolutionOutcome>>

/** Requests the part of the list that starts at rig number `from`. */
export const ListQuestion = Type.Object({ from: Count })

const MemberRow = Type.Object({
  ...figures,
  /** Missing for rigs of older versions, and in lists of older leaders. */
  energy: Type.Optional(EnergyReport),
  lease: Nullable(Lease),
  relay: Type.Optional(RelayStatistics),
  /** Milliseconds since the leader first heard of the rig. */
  seenMs: Count,
})
export type MemberRow = Readonly<Static<typeof MemberRow>>

export const ListAnswer = Type.Object({
  leader: Name,
  version: Name,
  term: Count,
  network: Text,
  account: Text,
  allPaused: Type.Boolean(),
  rigs: Type.Array(MemberRow),
  /** Start of the next part, or null at the end. */
  next: Nullable(Count),
})
export type ListAnswer = Readonly<Static<typeof ListAnswer>>

export const MemberCommand = Type.Object({
  pause: Type.Boolean(),
  /** Null for all rigs. */
  rig: Nullable(MemberName),
})
export type MemberCommand = Readonly<Static<typeof MemberCommand>>

export const MemberCommandAnswer = Type.Object({
  /** Number of currently known rigs with this name. */
  rigs: Count,
  /** Reason for a refusal, or null on success. */
  problem: Nullable(Text),
})
export type MemberCommandAnswer = Readonly<Static<typeof MemberCommandAnswer>>

export const encodeMessage = (message: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(message))

/**
 * Decodes and validates a message.
 * @param what name of the message, for errors
 * @throws FormatError if the bytes do not match the schema
 */
export function decodeMessage<T extends TSchema>(schema: T, bytes: Uint8Array, what: string): Static<T> {
  let message: unknown
  try {
    message = parsePlainJson(new TextDecoder().decode(bytes))
  } catch {
    throw new FormatError(what, 0, 'is not JSON')
  }
  const validator = validatorOf(schema)
  if (!validator.accepts(message)) throw new FormatError(what, 0, validator.complaint(message))
  return message as Static<T>
}

/** Defaults for fields of a candidate that are missing or invalid. */
const DEFAULT_FIELDS = { job: '', issuer: '', rig: 'unnamed', session: '', hashes: 0 }
const { work, ...otherFields } = CandidateMessage.properties
const SolvedWork = Type.Object({ work })

/**
 * Decodes a candidate. Only its work must be valid: a solution must not be lost because of other fields, which may come
 * from a rig of another version.
 * @param what name of the message, for errors
 * @throws FormatError if there is no valid work
 */
export function decodeCandidate(bytes: Uint8Array, what: string): CandidateMessage {
  const message: Readonly<Record<string, unknown>> & Static<typeof SolvedWork> = decodeMessage(SolvedWork, bytes, what)
  const right = Object.entries(otherFields).filter(([name, schema]) => validatorOf(schema).accepts(message[name]))
  return { work: message.work, ...DEFAULT_FIELDS, ...Object.fromEntries(right.map(([name]) => [name, message[name]])) }
}
