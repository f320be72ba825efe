/** The network that a node has forked, in its status. */
import { Type } from './typebox.ts'

export const ForkState = Type.Union([
  Type.Object({
    url: Type.String({ description: 'the forked node' }),
    network: Type.String({ description: 'name of its network' }),
    height: Type.Integer({ minimum: 0, description: 'height of the pinned blocks' }),
    requests: Type.Integer({ minimum: 0, description: 'requests to the forked node since the start' }),
  }),
  Type.Null({ description: 'a network of its own' }),
])
