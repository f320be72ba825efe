/** The shape of what is inside a signed command, as JSON schemas (PROTOCOL.md E.2); for JSON with exact numbers. */
import type { ExactJson } from '../../core/json.ts'
import { type Static, Type } from '../../schema/typebox.ts'
import { decimalOf, integerOf, wholeNumberOf } from './numbers.ts'

/** `ns.module.CAPABILITY` or `module.CAPABILITY` */
const CAPABILITY_NAME = '^[^\\s."\'()]+(\\.[^\\s."\'()]+){1,2}$'

/** Anything: the reader looks at it later. */
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

/** `clist` may be left out, which live nodes refuse. */
const VerifierShape = Type.Object({
  name: Type.String(),
  proof: Values,
  clist: Type.Optional(Nullable(Type.Array(CapabilityShape))),
})

/** `gasLimit`, `ttl` and `creationTime`: as wholeNumberOf reads them, times in seconds; `gasPrice`: decimalOf. */
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
/** A step of a pact. */
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

/** `cmd` of a signed command, parsed. */
export const PublicShape = Type.Object({ ...contents, meta: PublicMetaShape })
export type PublicShape = Static<typeof PublicShape>
/** What public and private commands have in common. */
export type ContentsShape = Omit<PublicShape, 'meta'>

const PrivateMetaShape = Type.Object({
  address: Type.Object({
    from: Type.String({ minLength: 1, description: 'the node that hands it in' }),
    to: Type.Array(Type.String({ minLength: 1 }), { description: 'other nodes that execute it' }),
  }),
})
/** As PublicShape, for the nodes that are named and no others. */
export const PrivateShape = Type.Object({ ...contents, meta: PrivateMetaShape })
export type PrivateShape = Static<typeof PrivateShape>
