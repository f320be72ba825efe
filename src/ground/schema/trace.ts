/** Traces of transactions on an embedded node: `POST /devnet/trace`. */
import { Command, HashText } from './bodies.ts'
import { CommandOutcome } from './command-bodies.ts'
import { JSON_TYPE, type Operation, TEXT } from './operation.ts'
import { Type } from './typebox.ts'

/** Maximum length of a request key, or of the text of a command; longer ones are refused with 400. */
const MAX_TEXT_LENGTH = 2 * 1024 * 1024

/** Maximum number of rows, and of keys, that a request may replace. */
const MAX_OVERRIDES = 1000

/** Rows, a time and signers that a command finds on top of its chain, instead of those of the chain. */
export const TraceOverrides = Type.Object(
  {
    rows: Type.Optional(
      Type.Record(Type.String(), Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown())), {
        description: 'qualified table: key: fields of the row. Other fields of an existing row stay',
        maxProperties: MAX_OVERRIDES,
      }),
    ),
    time: Type.Optional(Type.String({ maxLength: 40, description: 'block time, such as 2027-01-01T00:00:00Z' })),
    keys: Type.Optional(
      Type.Array(Type.String({ pattern: '^[0-9a-f]{64}$' }), {
        description: 'public keys that sign too, without limit',
        maxItems: MAX_OVERRIDES,
      }),
    ),
  },
  { additionalProperties: false, description: 'with cmd only: what the command finds instead. Nothing is written' },
)

export const TraceRequest = Type.Object(
  {
    requestKey: Type.Optional(Type.String({ maxLength: 256, description: 'request key of a transaction in a block' })),
    block: Type.Optional({ ...HashText, description: 'hash of the block; default: that of the chain, else an orphan' }),
    cmd: Type.Optional(
      Type.Union([Command, Type.String({ maxLength: MAX_TEXT_LENGTH })], {
        description: 'a command to run on top of its chain, signed or not, or its text alone. Nothing is written',
      }),
    ),
    overrides: Type.Optional(TraceOverrides),
  },
  { additionalProperties: false, description: 'either requestKey or cmd' },
)

const Milligas = Type.Number({ description: 'milligas' })
const Count = Type.Integer({ minimum: 0 })

const Place = Type.Object({
  module: Type.Union([Type.String(), Type.Null()], { description: 'null: code of the command itself' }),
  line: Type.Integer({ minimum: 1 }),
  column: Type.Integer({ minimum: 1 }),
})

/** A step of a transaction. Children have the same shape. */
export const TraceStep = Type.Object({
  kind: Type.Union(
    (['call', 'capability', 'guard', 'read', 'write', 'event', 'yield', 'print', 'gas'] as const).map((kind) =>
      Type.Literal(kind),
    ),
  ),
  name: Type.String({ description: 'function, capability, table, guard or charge' }),
  by: Type.Optional(Type.String({ description: 'native or form that reads, writes or deploys' })),
  args: Type.Array(Type.String(), { description: 'values in source form, cut at 256 characters' }),
  result: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  gasOwn: { ...Milligas, description: 'milligas without those of the children' },
  gasTotal: Milligas,
  at: Type.Union([Place, Type.Null()], { description: 'where the code makes this step' }),
  failedAt: Type.Optional({ ...Place, description: 'where the error arose, in the step in which it did' }),
  children: Type.Array(Type.Unknown(), { description: 'steps of the same shape' }),
  omitted: Type.Optional(Type.Integer({ minimum: 1, description: 'steps within this one that are left out' })),
})

export const Traced = Type.Object({
  requestKey: HashText,
  chain: Count,
  block: Type.Union([
    Type.Object({ height: Count, hash: HashText, isOrphan: Type.Boolean(), index: Count }),
    Type.Null(),
  ]),
  status: Type.Union([Type.Literal('success'), Type.Literal('failure')]),
  gas: Count,
  result: CommandOutcome,
  trace: TraceStep,
  nodes: { ...Count, description: 'steps in the tree' },
  omitted: { ...Count, description: 'steps that are left out' },
  modules: Type.Record(Type.String(), Type.Object({ hash: Type.String(), line: Type.Integer({ minimum: 1 }) }), {
    description: 'module: its hash, and the line on which it begins in the text of its transaction',
  }),
  note: Type.Union([Type.String(), Type.Null()], { description: 'how this run differs from one in a block' }),
})

const text = (description: string) => ({ description, content: { [TEXT]: Type.String() } })

export const traceOperation = {
  id: 'trace',
  method: 'POST',
  scope: 'root',
  path: '/devnet/trace',
  group: 'devnet',
  forThisMachine: true,
  summary: 'execute a transaction again, and tell each step with its gas',
  params: Type.Object({}),
  query: Type.Object({}),
  body: { type: 'application/json', schema: TraceRequest },
  responses: {
    200: { description: 'done', content: { [JSON_TYPE]: Traced } },
    403: text('not from this machine'),
    404: text('no block has the transaction'),
    409: text('the transaction is pending, or took too long'),
    503: text('too many queued calls, or the node is stopping'),
  },
} as const satisfies Operation
