/** Replays of transactions of an embedded node in another process: `POST /devnet/replay`. */
import { HashText } from './bodies.ts'
import { JSON_TYPE, type Operation, TEXT } from './operation.ts'
import { traceOperation } from './trace.ts'
import { Type } from './typebox.ts'

/** Maximum number of entries that a request may ask for. */
const MAX_READS = 1000

const ReplayRequest = Type.Object(
  {
    requestKey: Type.String({ maxLength: 256, description: 'request key of a transaction in a block' }),
    block: Type.Optional({ ...HashText, description: 'hash of the block; default: that of the chain, else an orphan' }),
    reads: Type.Optional(
      Type.Array(
        Type.Object(
          {
            domain: Type.String({ maxLength: 1024 }),
            key: Type.Union([Type.String({ maxLength: 65_536 }), Type.Null()], {
              description: 'null: all keys of the domain',
            }),
          },
          { additionalProperties: false },
        ),
        { maxItems: MAX_READS, description: 'entries of the state that the transaction does not read' },
      ),
    ),
  },
  { additionalProperties: false },
)

const Count = Type.Integer({ minimum: 0 })

const Replayed = Type.Object({
  requestKey: HashText,
  chain: Count,
  block: Type.Object({ height: Count, hash: HashText, isOrphan: Type.Boolean(), index: Count }),
  recording: Type.Unknown({
    description: 'the command, its block and what it reads, for newcut debug of the same version',
  }),
})

const describeFailure = (description: string) => ({ description, content: { [TEXT]: Type.String() } })

export const replayOperation = {
  id: 'replay',
  method: 'POST',
  scope: 'root',
  path: '/devnet/replay',
  group: 'devnet',
  forThisMachine: true,
  summary: 'return a transaction with all that it reads, so that a debugger executes it elsewhere',
  params: Type.Object({}),
  query: Type.Object({}),
  body: { type: 'application/json', schema: ReplayRequest },
  responses: {
    200: { description: 'done', content: { [JSON_TYPE]: Replayed } },
    403: describeFailure('not from this machine'),
    404: describeFailure('no block has the transaction'),
    409: describeFailure('the transaction is pending, or took too long'),
    503: describeFailure('too many queued calls, or the node is stopping'),
  },
} as const satisfies Operation

/** Operations that execute a transaction again, here or elsewhere. */
export const traceOperations = { trace: traceOperation, replay: replayOperation }
