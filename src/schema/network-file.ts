/** Schema of the file of a network (networks/*.yaml, `--network-file`). core/network-form.ts has its meaning. */
import { graphNames } from '../core/graph.ts'
import { type Static, Type } from './typebox.ts'

const height = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const u32 = Type.Integer({ minimum: 0, maximum: 0xffff_ffff })
const closed = { additionalProperties: false }
const fork = Type.Object({ fork: Type.Integer({ minimum: 1, maximum: 0xffff_ffff }) }, closed)
const heightOrNever = Type.Union([Type.Literal('genesis'), Type.Literal('never'), height])
const condition = Type.Union([Type.Literal('genesis'), Type.Literal('never'), height, fork])
const chains = Type.Union([Type.String(), Type.Integer({ minimum: 0 })])
const optional = Type.Optional
const model = Type.Union([Type.Literal('pre31'), Type.Literal('post31'), Type.Literal('post32')])
const graph = Type.Union([...graphNames.map((name) => Type.Literal(name)), Type.Array(Type.Array(u32))])

export const NetworkFile = Type.Object(
  {
    network: Type.Literal(1),
    name: Type.String(),
    code: optional(u32),
    public: optional(Type.Boolean()),
    graphs: optional(Type.Array(Type.Object({ from: height, graph }, closed), { minItems: 1 })),
    'block-delay': optional(Type.String()),
    window: optional(Type.Union([Type.Literal('none'), Type.Integer({ minimum: 1, maximum: 1_000_000 })])),
    genesis: optional(
      Type.Object(
        {
          time: optional(Type.String()),
          targets: optional(
            Type.Array(
              Type.Object(
                {
                  chains: optional(chains),
                  difficulty: optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
                  target: optional(Type.String({ pattern: '^[0-9a-fA-F]{64}$' })),
                },
                closed,
              ),
              { minItems: 1 },
            ),
          ),
          'any-target': optional(Type.Boolean()),
          payloads: optional(Type.Array(Type.Object({ chains: optional(chains), hash: Type.String() }, closed))),
          'first-epoch': optional(Type.Union([Type.Literal('faked'), Type.Literal('plain')])),
        },
        closed,
      ),
    ),
    rules: optional(
      Type.Object(
        {
          'slow-epochs-until': optional(condition),
          'parent-time': optional(condition),
          'mean-target': optional(condition),
          'fork-flags': optional(heightOrNever),
        },
        closed,
      ),
    ),
    forks: optional(
      Type.Object({ highest: u32, casting: optional(Type.Integer({ minimum: 1, maximum: 4_000_000 })) }, closed),
    ),
    gas: optional(
      Type.Object(
        {
          block: optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
          sizes: optional(Type.Array(Type.Object({ from: condition, model }, closed))),
        },
        closed,
      ),
    ),
    'spv-window': optional(
      Type.Array(
        Type.Object(
          { from: condition, blocks: Type.Union([Type.Literal('none'), Type.Integer({ minimum: 1 })]) },
          closed,
        ),
      ),
    ),
  },
  closed,
)
export type NetworkFile = Static<typeof NetworkFile>
