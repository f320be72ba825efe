/** JSON schemas of the contents of a signed command (PROTOCOL.md E.2), for JSON with exact numbers. */
import type { ExactJson } from '#ground/base/json.ts'
import { type Static, Type } from '#ground/schema/typebox.ts'
import { readJsonDecimal, readJsonInteger, wholeNumberOf } from './numbers.ts'

/** `ns.module.CAPABILITY` or `module.CAPABILITY` */
const CAPABILITY_NAME = '^[^\\s."\'()]+(\\.[^\\s."\'()]+){1,2}$'

/** Any JSON; parts.ts parses it later. */
const Values = Type.Unsafe<ExactJson>(Type.Unknown())
const Nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

/** Any JSON that the given parser of numbers.ts accepts. */
const refinedNumber = (read: (json: unknown) => unknown, complaint: string) =>
  Type.Unsafe<ExactJson>(
    Type.Refine(
      Type.Unknown(),
      (json) => read(json) !== null,
      () => complaint,
    ),
  )
const Whole = refinedNumber(wholeNumberOf, 'must be a whole number')
const Integer = refinedNumber(readJsonInteger, 'must be integer')
const DecimalNumber = refinedNumber(readJsonDecimal, 'must be a number')

export const CapabilityShape = Type.Object({
  name: Type.String({ pattern: CAPABILITY_NAME }),
  args: Type.Array(Values),
})
export type CapabilityShape = Static<typeof CapabilityShape>

const SignerShape = Type.Object({
  pubKey: Type.String(),
  scheme: Type.Optional(Nullable(Type.String())),
  addr: Type.Optional(Nullable(Type.String())),
  clist: Type.Optional(Nullable(Type.Array(CapabilityShape))),
})
export type SignerShape = Static<typeof SignerShape>

/** `clist` is optional here; live nodes require it. */
const VerifierShape = Type.Object({
  name: Type.String(),
  proof: Values,
  clist: Type.Optional(Nullable(Type.Array(CapabilityShape))),
})

/** wholeNumberOf parses `gasLimit`, and `ttl` and `creationTime` in seconds; decimalOf parses `gasPrice`. */
const PublicMetaShape = Type.Object({
  chainId: Type.String(),
  sender: Type.String(),
  gasLimit: Whole,
  gasPrice: DecimalNumber,
  ttl: Whole,
  creationTime: Whole,
})
export type PublicMetaShape = Static<typeof PublicMetaShape>

const ExecShape = Type.Object({ code: Type.String(), data: Type.Optional(Values) })
/** Payload that continues a pact. */
export const ContShape = Type.Object({
  pactId: Type.String(),
  step: Integer,
  rollback: Type.Boolean(),
  proof: Type.Optional(Nullable(Type.String())),
  data: Values,
})
export type ContShape = Static<typeof ContShape>

const contents = {
  payload: Type.Object({ exec: Type.Optional(Nullable(ExecShape)), cont: Type.Optional(Values) }),
  signers: Type.Array(SignerShape),
  networkId: Type.Optional(Nullable(Type.String())),
  nonce: Type.String(),
  verifiers: Type.Optional(Nullable(Type.Array(VerifierShape))),
}

/** Parsed `cmd` of a public command. */
export const PublicShape = Type.Object({ ...contents, meta: PublicMetaShape })
export type PublicShape = Static<typeof PublicShape>
/** Parts that public and private commands share. */
export type ContentsShape = Omit<PublicShape, 'meta'>

const PrivateMetaShape = Type.Object({
  address: Type.Object({
    from: Type.String({ minLength: 1, description: 'the node that hands it in' }),
    to: Type.Array(Type.String({ minLength: 1 }), { description: 'other nodes that execute it' }),
  }),
})
/** Like PublicShape, with metadata that names the only nodes that execute the command. */
export const PrivateShape = Type.Object({ ...contents, meta: PrivateMetaShape })
export type PrivateShape = Static<typeof PrivateShape>
