/** Bodies and queries of the endpoints for signed commands, and command results, as JSON schemas. */

import type { ExactJson } from '../base/json.ts'
import { BigNatural, Command, HashText } from './bodies.ts'
import { type Static, Type } from './typebox.ts'

/** Maximum number of commands, or of request keys, in one request. */
const MAX_IN_REQUEST = 10_000
const Natural = Type.Integer({ minimum: 0 })
const Nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

/** Values of the contract language, with exact numbers. */
const Values = Type.Unsafe<ExactJson>(Type.Unknown())
/** A number that may exceed the precision of a double; kept as written. */
const ExactNumber = Type.Unsafe<ExactJson>(Type.Number({ format: 'exact' }))

/** POST send. */
export const SendBody = Type.Object({ cmds: Type.Array(Command, { minItems: 1, maxItems: MAX_IN_REQUEST }) })
/** Answer to send and private: request keys in the order of the commands. */
export const SentKeys = Type.Object({ requestKeys: Type.Array(HashText) })
/** POST poll. */
export const PollBody = Type.Object({ requestKeys: Type.Array(HashText, { minItems: 1, maxItems: MAX_IN_REQUEST }) })
/** POST listen. */
export const ListenBody = Type.Object({ listen: HashText })
/** POST spv. */
export const SpvBody = Type.Object({ requestKey: HashText, targetChainId: Type.String({ pattern: '^[0-9]{1,9}$' }) })
/** Answer to spv: the proof for a continuation on the target chain. */
export const SpvProof = Type.String({ pattern: '^[a-zA-Z0-9_-]+$', description: 'base64url, unpadded' })

/** Query of local. */
export const LocalQuery = Type.Object({
  preflight: Type.Optional(Type.Boolean({ description: 'apply all rules and gas charges of a block; default: false' })),
  signatureVerification: Type.Optional(Type.Boolean({ description: 'verify signatures; default: true' })),
  rewindDepth: Type.Optional(Type.Integer({ minimum: 0, description: 'run this many blocks below the head' })),
  rewindHeight: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'run on top of the block of this height, whatever `rewindDepth`; only nodes of newcut take it',
    }),
  ),
})
export type LocalQuery = Static<typeof LocalQuery>

/** Query of poll. */
export const PollQuery = Type.Object({
  confirmationDepth: Type.Optional(
    Type.Integer({ minimum: 0, description: "minimum number of blocks on top of the command's block" }),
  ),
})

/** Error of a failed command. */
const CommandError = Type.Object({
  callStack: Type.Optional(Type.Array(Values)),
  type: Type.Optional(Type.String({ description: 'SyntaxError, EvalError or TxFailure' })),
  message: Type.String(),
  info: Type.Optional(Type.String({ description: 'place in the code' })),
})
/**
 * Error of a failed command: message, kind and place in the code.
 * @interface
 */
export type CommandError = Static<typeof CommandError>

/** The value of a command, or its error. */
export const CommandOutcome = Type.Union([
  Type.Object({ status: Type.Literal('success'), data: Values }),
  Type.Object({ status: Type.Literal('failure'), error: CommandError }),
])

/** An event emitted by a contract. */
const ContractEvent = Type.Object({
  name: Type.String(),
  params: Type.Array(Values),
  module: Type.Object({ namespace: Nullable(Type.String()), name: Type.String() }),
  moduleHash: Type.String(),
})
/**
 * An event emitted by a contract.
 * @interface
 */
export type ContractEvent = Static<typeof ContractEvent>

/** State of a multi-step execution (pact). */
const Continuation = Type.Object({
  pactId: Type.String(),
  step: Natural,
  stepCount: Natural,
  stepHasRollback: Type.Boolean(),
  executed: Type.Optional(Nullable(Type.Boolean())),
  yield: Type.Optional(Values),
  continuation: Type.Object({ def: Type.String(), args: Type.Array(Values) }),
})
/**
 * State of a multi-step execution (pact): its id, the last executed step and the yield of that step.
 * @interface
 */
export type Continuation = Static<typeof Continuation>

const PublicMetaResult = Type.Object({
  chainId: Type.String(),
  sender: Type.String(),
  gasLimit: ExactNumber,
  gasPrice: ExactNumber,
  ttl: ExactNumber,
  creationTime: ExactNumber,
})

/** Place of execution. `blockHash` is set by poll and listen, `publicMeta` by local. */
const CommandMetaData = Type.Object({
  blockHeight: BigNatural,
  blockTime: BigNatural,
  blockHash: Type.Optional(HashText),
  prevBlockHash: HashText,
  publicMeta: Type.Optional(PublicMetaResult),
})
/**
 * Place of execution. `blockTime` is in microseconds. `blockHash` is set by poll and listen, `publicMeta` by local.
 * @interface
 */
export type CommandMetaData = Static<typeof CommandMetaData>

/** Result of a command (PROTOCOL.md E.1). */
export const CommandResult = Type.Object({
  gas: BigNatural,
  result: CommandOutcome,
  reqKey: HashText,
  logs: Type.Optional(Nullable(Type.String())),
  events: Type.Optional(Type.Array(ContractEvent)),
  metaData: Type.Optional(Nullable(CommandMetaData)),
  continuation: Type.Optional(Nullable(Continuation)),
  txId: Type.Optional(Nullable(BigNatural)),
})
/**
 * Result of a command. Its values are JSON with exact numbers.
 * @interface
 */
export type CommandResult = Static<typeof CommandResult>

/** Answer to local with preflight. */
export const PreflightResult = Type.Object({
  preflightResult: CommandResult,
  preflightWarnings: Type.Array(Type.String()),
})
/** Answer to local. A command that cannot be parsed gets the plain form even in preflight. */
export const LocalAnswer = Type.Union([CommandResult, PreflightResult])
/** Answer to poll: request key -> result; keys without a result are absent. */
export const PollAnswer = Type.Record(HashText, CommandResult, { description: 'request key: result' })
