/** How a node makes blocks by itself, in orders and answers. */
import { CONFIRMATIONS, MAX_CONFIRMATIONS } from './devnet-modes.ts'
import { type Static, Type } from './typebox.ts'

/** Maximum block delay: a year. */
export const MAX_BLOCK_DELAY_MS = 365 * 86_400_000

/** How the node makes blocks by itself. */
export const MiningMode = Type.Object(
  {
    mode: Type.Union([
      Type.Literal('on-demand'),
      Type.Literal('on-arrival'),
      Type.Literal('constant'),
      Type.Literal('simulated'),
    ]),
    confirmations: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_CONFIRMATIONS,
        default: CONFIRMATIONS,
        description: 'of on-arrival: blocks on every chain behind one with commands',
      }),
    ),
    blockTimeMs: Type.Optional(
      Type.Number({
        minimum: 1,
        maximum: MAX_BLOCK_DELAY_MS,
        description: 'of constant: time between blocks of a chain',
      }),
    ),
    everyMs: Type.Optional(
      Type.Number({
        minimum: 1,
        maximum: MAX_BLOCK_DELAY_MS,
        description: 'the earlier name of blockTimeMs',
        deprecated: true,
      }),
    ),
    hashesPerSecond: Type.Optional(
      Type.Number({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'of simulated: rate of all miners' }),
    ),
  },
  { additionalProperties: false },
)
export type MiningMode = Static<typeof MiningMode>
export const MiningState = Type.Object({
  mining: Type.Union([MiningMode, Type.Null()], { description: 'null: only miners and requests make blocks' }),
})
