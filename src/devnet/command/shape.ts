/** What is inside a signed command, as JSON schemas (PROTOCOL.md E.2); for JSON with exact numbers. */

import { type ExactJson, NumberText } from '../../core/json.ts'
import { type Static, Type } from '../../schema/typebox.ts'

/** `ns.module.CAPABILITY` or `module.CAPABILITY` */
const CAPABILITY_NAME = '^[^\\s."\'()]+(\\.[^\\s."\'()]+){1,2}$'
const WHOLE_NUMBER = /^-?\d{1,15}$/
const WHOLE_FRACTION = /^(-?\d{1,15})\.0*$/
const DECIMAL_NUMBER = /^-?\d{1,300}(\.\d{1,300})?([eE][+-]?\d{1,3})?$/

const Values = Type.Unsafe<ExactJson>(Type.Unknown())
const Nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

/** A whole number as commands have it: `600`, `"600"` or `{"int":600}`. null: it is none, or has over 15 digits. */
export function wholeNumberOf(json: unknown): number | null {
  if (typeof json === 'object' && json !== null && 'int' in json) return wholeNumberOf(json.int)
  const text = json instanceof NumberText ? (WHOLE_FRACTION.exec(json.text)?.[1] ?? '') : json
  return ['number', 'string'].includes(typeof text) && WHOLE_NUMBER.test(String(text)) ? Number(text) : null
}

/** The digits of a decimal as commands have it: `1e-8`, `"0.00000001"` or `{"decimal":"0.00000001"}`. null: it is none. */
export function decimalTextOf(json: unknown): string | null {
  if (typeof json === 'object' && json !== null && 'decimal' in json) return decimalTextOf(json.decimal)
  const text = json instanceof NumberText ? json.text : json
  return ['number', 'bigint', 'string'].includes(typeof text) && DECIMAL_NUMBER.test(String(text)) ? String(text) : null
}

const Whole = Type.Unsafe<ExactJson>(
  Type.Refine(
    Type.Unknown(),
    (json) => wholeNumberOf(json) !== null,
    () => 'must be a whole number',
  ),
)
const DecimalNumber = Type.Unsafe<ExactJson>(
  Type.Refine(
    Type.Unknown(),
    (json) => decimalTextOf(json) !== null,
    () => 'must be a number',
  ),
)

const Capability = Type.Object({ name: Type.String({ pattern: CAPABILITY_NAME }), args: Type.Array(Values) })

export const Signer = Type.Object({
  pubKey: Type.String({ description: 'hex' }),
  scheme: Type.Optional(Nullable(Type.String({ description: 'ED25519 if not given' }))),
  addr: Type.Optional(Nullable(Type.String())),
  clist: Type.Optional(Nullable(Type.Array(Capability))),
})
export type Signer = Static<typeof Signer>

/** `gasLimit`, `ttl` and `creationTime`: as wholeNumberOf reads them, times in seconds; `gasPrice`: decimalTextOf. */
const PublicMeta = Type.Object({
  chainId: Type.String(),
  sender: Type.String(),
  gasLimit: Whole,
  gasPrice: DecimalNumber,
  ttl: Whole,
  creationTime: Whole,
})

const Execution = Type.Object({ code: Type.String(), data: Type.Optional(Values) })
const NextStep = Type.Object({
  pactId: Type.Union([Type.String(), Type.Integer()]),
  step: Type.Integer(),
  rollback: Type.Boolean(),
  proof: Type.Optional(Nullable(Type.String())),
  data: Values,
})

const contents = {
  payload: Type.Object({ exec: Type.Optional(Execution), cont: Type.Optional(NextStep) }),
  signers: Type.Array(Signer),
  networkId: Type.Optional(Nullable(Type.String())),
  nonce: Type.String(),
  verifiers: Type.Optional(Nullable(Type.Array(Values))),
}

/** `cmd` of a signed command, parsed. `payload` holds one of its two properties. */
export const CommandPayload = Type.Object({ ...contents, meta: PublicMeta })
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
