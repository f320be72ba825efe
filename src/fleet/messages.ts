/**
 * What leader and rigs of a fleet say to each other over NATS: JSON, under subjects that begin with `newcut.NAME`.
 *
 *     newcut.NAME.job         leader -> all rigs          what to search from now on
 *     newcut.NAME.report      rig -> leader, answered     what it did; the answer renews its lease
 *     newcut.NAME.candidate   rig -> JetStream -> leader  solved work, kept until the leader has handed it in
 *     newcut.NAME.share       relay -> JetStream          an accepted share, kept for the accounts
 *     newcut.NAME.unshared    relay -> JetStream          counts of refused ones
 *     newcut.NAME.outcome     rig -> leader, answered     what became of one
 *     newcut.NAME.standby     leaders and those that stand by -> each other   whether they have a node
 *     newcut.NAME.list        anybody -> leader, answered the rigs
 *     newcut.NAME.order       anybody -> leader, answered pause or resume rigs
 *
 * A lease is the right to a sixteen bit value: the low bits of every nonce that the rig tries. Two rigs never hold the
 * same one for longer than it takes until one of them reports. A relay, which serves stratum rigs, has a residue besides:
 * headers of its own, of which its rigs may try every nonce.
 */

import { FormatError } from '../core/errors.ts'
import { settledVerdicts } from '../core/solution.ts'
import { literals } from '../schema/literals.ts'
import { type Static, type TSchema, Type } from '../schema/typebox.ts'
import { validatorOf } from '../schema/validator.ts'

/** A lease that was not renewed for so long is over, for its rig and for the leader. */
export const LEASE_MS = 10_000
/** How many leases there are. */
export const LEASES = 2 ** 16
export const LEASE_BITS = 16

/**
 * Creation times, in microseconds, tell headers apart: devices of rigs search those that are a multiple of OWN_STEP, and
 * move them on by whole milliseconds. The stratum rigs of a relay have those of one residue of HEADER_MODULUS, which is no
 * multiple of OWN_STEP, with all nonces.
 */
export const OWN_STEP = 8
export const HEADER_MODULUS = 4096
/** A residue is given to another relay when its own was not heard of for so long. */
export const RESIDUE_MS = 15 * 60_000
/** A relay goes on with its residue for so long after its last report that was answered, and no job lives longer. */
export const RELAY_ALONE_MS = 5 * 60_000

/** Names of fleets go into subjects of NATS, whose parts dots separate, and into names of its stores. */
export const FLEET_NAME = /^[A-Za-z0-9_-]{1,32}$/

/** Subjects and stores of a fleet. Throws nothing; the name was checked. */
export function subjectsOf(name: string) {
  const of = (what: string) => `newcut.${name}.${what}`
  return {
    job: of('job'),
    report: of('report'),
    candidate: of('candidate'),
    share: of('share'),
    unshared: of('unshared'),
    outcome: of('outcome'),
    standby: of('standby'),
    list: of('list'),
    order: of('order'),
    /** The stream of candidates in JetStream. */
    stream: `newcut-${name}-candidates`,
    /** The stream of shares. */
    shares: `newcut-${name}-shares`,
    /** The store of who leads and who is paused. */
    bucket: `newcut-${name}`,
  }
}
export type Subjects = ReturnType<typeof subjectsOf>

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
/** A sum that grows as long as its rig runs: at 27 GH/s it is beyond 2^53, and no longer exact, after four days. */
const Hashes = Type.Number({ minimum: 0 })
/** For people: whoever shows it makes it printable. */
const Text = Type.String({ maxLength: 500 })
/** Letters, digits and signs, without spaces. */
const Name = Type.String({ pattern: '^[!-~]{1,64}$' })
/** That of a host may have 253 characters (RFC 1035, 2.3.4). It goes into messages and labels, and into no subject. */
const RigName = Type.String({ pattern: '^[!-~]{1,253}$' })
const Lease = Type.Integer({ minimum: 0, maximum: LEASES - 1 })
const Residue = Type.Integer({ minimum: 0, maximum: HEADER_MODULUS - 1 })
/** Base64url of work bytes. */
const WorkText = Type.String({ pattern: '^[A-Za-z0-9_-]{200,4000}$' })
const HashText = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })
const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const JobMessage = Type.Object({
  /** Grows with every change of the leader: what an earlier one says is over. */
  term: Count,
  /** Grows with every job of a leader. */
  number: Count,
  /** null: there is nothing to search. */
  job: Nullable(
    Type.Object({
      /** Unique within the fleet. */
      id: Name,
      /** Who gave the work to the leader. */
      issuer: Text,
      /** Why it is searched: a JobReason (source/source.ts). */
      reason: Name,
      work: WorkText,
      /** A hash <= this is a solution: 64 hex digits, big-endian. */
      target: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    }),
  ),
})
export type JobMessage = Readonly<Static<typeof JobMessage>>

/** What a relay says of the stratum rigs that are connected to it. */
const relayFigures = {
  rigs: Count,
  /** Hashes a second, a part of the rate of the relay; null: not known yet. */
  rate: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]),
}
export const RelayFigures = Type.Object(relayFigures)
export type RelayFigures = Readonly<Static<typeof RelayFigures>>

const RigState = Type.Union([Type.Literal('searching'), Type.Literal('paused'), Type.Literal('idle')])

/** What a rig says of itself. */
const figures = {
  rig: RigName,
  version: Name,
  /** Since its start. */
  hashes: Hashes,
  /** Hashes a second; null: not known yet. */
  rate: Nullable(Type.Number({ minimum: 0 })),
  state: RigState,
  /** Why it does not search; null: it does. */
  reason: Nullable(Text),
  /** Solutions of this run. */
  accepted: Count,
  refused: Count,
  /** Claims of its devices that did not solve, of this run; undefined: a rig of an older version does not say. */
  hardwareErrors: Type.Optional(Count),
}

/** `residue`: the one that it has; null: none. */
const RelayReport = Type.Object({ ...relayFigures, residue: Nullable(Residue) })

export const Report = Type.Object({
  ...figures,
  /** Another one for each start of a rig. */
  session: Name,
  /** The lease that it holds; null: none. */
  lease: Nullable(Lease),
  /** Set by a relay: a rig to which others connect by stratum. */
  relay: Type.Optional(RelayReport),
  /** The newest job that it knows. */
  seen: Nullable(Type.Object({ term: Count, number: Count })),
})
export type Report = Readonly<Static<typeof Report>>

export const ReportAnswer = Type.Object({
  term: Count,
  /** Where the leader runs. */
  leader: Name,
  /** Name of the network, and the account that is paid. */
  network: Text,
  account: Text,
  /** null: all are taken. */
  lease: Nullable(Lease),
  /** For a relay; null: it gets one in a moment, or all are taken. Leaders of earlier versions say nothing of it. */
  residue: Type.Optional(Nullable(Residue)),
  isPaused: Type.Boolean(),
  /** Where the rig does not know the newest job. */
  job: Nullable(JobMessage),
})
export type ReportAnswer = Readonly<Static<typeof ReportAnswer>>

/** Of a process that leads, or stands by. */
export const NodeReport = Type.Object({
  session: Name,
  /** Whether it has work of a node that answers. */
  isReady: Type.Boolean(),
})
export type NodeReport = Readonly<Static<typeof NodeReport>>

const CandidateMessage = Type.Object({
  /** Of the job that it solves. */
  job: Name,
  issuer: Text,
  /** Solved work. */
  work: WorkText,
  rig: RigName,
  session: Name,
  /** What the rig has searched until then. */
  hashes: Hashes,
})
export type CandidateMessage = Readonly<Static<typeof CandidateMessage>>

export const OutcomeQuestion = Type.Object({ hash: HashText })

export const Outcome = Type.Object({
  /** `unknown`: the leader has not heard of it. `working`: it is on its way, or not confirmed yet. */
  step: literals(['unknown', 'working', ...settledVerdicts]),
  /** Of one that was rejected or lost. */
  reason: Type.Optional(Name),
  message: Type.Optional(Text),
})
export type Outcome = Readonly<Static<typeof Outcome>>

/** The list goes on from the rig of this number. */
export const ListQuestion = Type.Object({ from: Count })

const RigRow = Type.Object({
  ...figures,
  lease: Nullable(Lease),
  relay: Type.Optional(RelayFigures),
  /** Since it was first heard of by this leader. */
  seenMs: Count,
})
export type RigRow = Readonly<Static<typeof RigRow>>

export const ListAnswer = Type.Object({
  leader: Name,
  version: Name,
  term: Count,
  network: Text,
  account: Text,
  allPaused: Type.Boolean(),
  rigs: Type.Array(RigRow),
  /** Where the next part begins; null: there is no more. */
  next: Nullable(Count),
})
export type ListAnswer = Readonly<Static<typeof ListAnswer>>

export const Order = Type.Object({
  pause: Type.Boolean(),
  /** null: all rigs. */
  rig: Nullable(RigName),
})
export type Order = Readonly<Static<typeof Order>>

export const OrderAnswer = Type.Object({
  /** How many rigs of this name are known now. */
  rigs: Count,
  /** Why it was refused; null: it was done. */
  problem: Nullable(Text),
})
export type OrderAnswer = Readonly<Static<typeof OrderAnswer>>

export const encodeMessage = (message: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(message))

/** Throws FormatError for bytes that are not such a message. `what` names it. */
export function decodeMessage<T extends TSchema>(schema: T, bytes: Uint8Array, what: string): Static<T> {
  let message: unknown
  try {
    message = JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    throw new FormatError(what, 0, 'is not JSON')
  }
  const validator = validatorOf(schema)
  if (!validator.accepts(message)) throw new FormatError(what, 0, validator.complaint(message))
  return message as Static<T>
}

/** What is taken where a candidate does not say it, or says it wrongly. */
const UNSAID = { job: '', issuer: '', rig: 'unnamed', session: '', hashes: 0 }
const { work, ...saidOfIt } = CandidateMessage.properties
const SolvedWork = Type.Object({ work })

/**
 * A candidate. Only its work has to be right: a solution is not lost for what else is said of it, which may come from a rig
 * of another version. Throws FormatError for bytes without work. `what` names the message.
 */
export function decodeCandidate(bytes: Uint8Array, what: string): CandidateMessage {
  const message: Readonly<Record<string, unknown>> & Static<typeof SolvedWork> = decodeMessage(SolvedWork, bytes, what)
  const right = Object.entries(saidOfIt).filter(([name, schema]) => validatorOf(schema).accepts(message[name]))
  return { work: message.work, ...UNSAID, ...Object.fromEntries(right.map(([name]) => [name, message[name]])) }
}
