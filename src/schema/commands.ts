/** What is inside a signed command, as JSON schemas (PROTOCOL.md E.2). */
import { type Static, Type } from 'typebox'

const Natural = Type.Integer({ minimum: 0 })

const Capability = Type.Object({ name: Type.String(), args: Type.Array(Type.Unknown()) })

export const Signer = Type.Object({
  pubKey: Type.String({ description: 'hex' }),
  scheme: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'ED25519 if not given' })),
  addr: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  clist: Type.Optional(Type.Union([Type.Array(Capability), Type.Null()])),
})
export type Signer = Static<typeof Signer>

const PublicMeta = Type.Object({
  chainId: Type.String(),
  sender: Type.String(),
  gasLimit: Natural,
  gasPrice: Type.Number({ minimum: 0 }),
  ttl: Type.Integer({ minimum: 1, description: 'seconds' }),
  creationTime: Type.Integer({ minimum: 0, description: 'seconds since the UNIX epoch' }),
})

/** `cmd` of a signed command, parsed. `payload` holds one of its two properties. */
export const CommandPayload = Type.Object({
  payload: Type.Object({
    exec: Type.Optional(Type.Object({ code: Type.String(), data: Type.Optional(Type.Unknown()) })),
    cont: Type.Optional(
      Type.Object({
        pactId: Type.Union([Type.String(), Type.Integer()]),
        step: Type.Integer(),
        rollback: Type.Boolean(),
        proof: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        data: Type.Optional(Type.Unknown()),
      }),
    ),
  }),
  meta: PublicMeta,
  signers: Type.Array(Signer),
  networkId: Type.String(),
  nonce: Type.String(),
})
export type CommandPayload = Static<typeof CommandPayload>
