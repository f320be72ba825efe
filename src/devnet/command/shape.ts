/** What is inside a signed command, as JSON schemas (PROTOCOL.md E.2); for JSON with exact numbers. */

import type { ExactJson } from '../../core/json.ts'
import { type Static, Type } from '../../schema/typebox.ts'
import { decimalOf, integerOf, wholeNumberOf } from './numbers.ts'

/** `ns.module.CAPABILITY` or `module.CAPABILITY` */
const CAPABILITY_NAME = '^[^\\s."\'()]+(\\.[^\\s."\'()]+){1,2}$'
const Values = Type.Unsafe<ExactJson>(Type.Unknown())
const Nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

/** A part of any kind that one of the readers of numbers.ts takes. */
const numberRead = (read: (json: unknown) => unknown, complaint: string) =>
  Type.Unsafe<ExactJson>(
    Type.Refine(
      Type.Unknown(),
      (json) => read(json) !== null,
      () => complaint,
    ),
  )
const Whole = numberRead(wholeNumberOf, 'must be a whole number')
const Integer = numberRead(integerOf, 'must be integer')
const DecimalNumber = numberRead(decimalOf, 'must be a number')

const Capability = Type.Object({ name: Type.String({ pattern: CAPABILITY_NAME }), args: Type.Array(Values) })

export const Signer = Type.Object({
  pubKey: Type.String({ description: 'hex' }),
  scheme: Type.Optional(Nullable(Type.String({ description: 'ED25519 if not given' }))),
  addr: Type.Optional(Nullable(Type.String())),
  clist: Type.Optional(Nullable(Type.Array(Capability))),
})
export type Signer = Static<typeof Signer>

/** `gasLimit`, `ttl` and `creationTime`: as wholeNumberOf reads them, times in seconds; `gasPrice`: decimalOf. */
const PublicMeta = Type.Object({
  chainId: Type.String(),
  sender: Type.String(),
  gasLimit: Whole,
  gasPrice: DecimalNumber,
  ttl: Whole,
  creationTime: Whole,
})

const Execution = Type.Object({ code: Type.String(), data: Type.Optional(Values) })
/** A step of a pact. */
export const NextStep = Type.Object({
  pactId: Type.String(),
  step: Integer,
  rollback: Type.Boolean(),
  proof: Type.Optional(Nullable(Type.String())),
  data: Values,
})

const contents = {
  payload: Type.Object({
    exec: Type.Optional(Nullable(Execution)),
    /** A NextStep, unless there is `exec`: live nodes look at nothing else then. */
    cont: Type.Optional(Type.Unsafe<ExactJson>(Type.Unknown())),
  }),
  signers: Type.Array(Signer),
  networkId: Type.Optional(Nullable(Type.String())),
  nonce: Type.String(),
  verifiers: Type.Optional(Nullable(Type.Array(Values))),
}

/** `cmd` of a signed command, parsed. */
export const CommandPayload = Type.Object({ ...contents, meta: PublicMeta })
export type NextStep = Static<typeof NextStep>
export type CommandPayload = Static<typeof CommandPayload>

const PrivateMeta = Type.Object({
  address: Type.Object({
    from: Type.String({ minLength: 1, description: 'the node that hands it in' }),
    to: Type.Array(Type.String({ minLength: 1 }), { description: 'other nodes that execute it' }),
  }),
})
/** As CommandPayload, for the nodes that are named and no others. */
export const PrivateCommandPayload = Type.Object({ ...contents, meta: PrivateMeta })
export type PrivateCommandPayload = Static<typeof PrivateCommandPayload>
