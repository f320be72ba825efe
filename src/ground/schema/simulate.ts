/** Simulation on an embedded node: `POST /devnet/simulate` runs commands in temporary blocks. */
import { Command, HashText } from './bodies.ts'
import { CommandResult } from './command-bodies.ts'
import { JSON_TYPE, type Operation, TEXT } from './operation.ts'
import { TraceStep } from './trace.ts'
import { type Static, Type } from './typebox.ts'

/** Maximum number of blocks of a simulation. */
const MAX_SIMULATED_BLOCKS = 100
/** Maximum number of commands of a simulation, over all its blocks. */
export const MAX_SIMULATED_COMMANDS = 1000
/** Maximum number of rows that a simulation replaces. */
export const MAX_SIMULATED_ROWS = 10_000
/** Maximum gas of all commands of a simulation: that of a hundred full blocks. */
export const MAX_SIMULATED_GAS = 15_000_000
/** Maximum length of the answer, in bytes: it is held in memory. */
export const MAX_SIMULATED_BYTES = 32 * 1024 * 1024

/** Maximum length of code, in characters. */
const MAX_CODE = 1_000_000
/** Maximum length of a name, a key or a number in text form. */
const MAX_NAME = 1000
/** Maximum number of signers, capabilities and modules of a command. */
const MAX_LISTED = 100

const Chain = Type.String({ pattern: '^[0-9]+$' })
const Count = Type.Integer({ minimum: 0 })
const Name = Type.String({ minLength: 1, maxLength: MAX_NAME })
const CapabilityList = (description: string) =>
  Type.Array(Type.Object({ name: Name, args: Type.Array(Type.Unknown()) }), { maxItems: MAX_LISTED, description })
const Keys = (description: string) =>
  Type.Array(Type.String({ pattern: '^[0-9a-f]{64}$' }), { maxItems: MAX_LISTED, description })

const SimulatedSigner = Type.Union([
  Name,
  Type.Object({ key: Name, caps: CapabilityList('what the signature is for') }, { additionalProperties: false }),
])

/** Continues a pact. */
const ContinuedPact = Type.Object(
  {
    pact: Type.String({
      minLength: 1,
      maxLength: MAX_NAME,
      description: '`name` of an earlier command of the simulation, or the id of a pact',
    }),
    step: Type.Optional({ ...Count, description: 'default: the next one' }),
    rollback: Type.Optional(Type.Boolean({ description: 'default: false' })),
    proof: Type.Optional(
      Type.String({ description: 'proof of the step before on another chain; default: that of the simulation' }),
    ),
  },
  { additionalProperties: false },
)

/** A command to run. Signatures are not checked: its signers count as having signed. */
const CommandToSimulate = Type.Object(
  {
    name: Type.Optional({ ...Name, description: 'for `continue` of later commands, and for the result' }),
    code: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_CODE })),
    continue: Type.Optional(ContinuedPact),
    cmd: Type.Optional(
      Type.Union([Command, Type.String({ maxLength: 2 * MAX_CODE })], {
        description: 'a complete command, signed or not, or its text alone',
      }),
    ),
    keys: Type.Optional(Keys('with cmd: public keys that sign too, without limit')),
    data: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'message data' })),
    proofs: Type.Optional(
      Type.Record(Type.String({ maxLength: MAX_NAME }), Name, {
        description: 'field of the message data: `name` of an earlier command, whose proof it gets, for `verify-spv`',
      }),
    ),
    sender: Type.Optional({ ...Name, description: 'account that pays for gas; default: nobody pays' }),
    signers: Type.Optional(
      Type.Array(SimulatedSigner, {
        maxItems: MAX_LISTED,
        description:
          'public keys, or k: accounts, each with its capabilities or without limit; default: the keys of the sender',
      }),
    ),
    gasLimit: Type.Optional(Type.Integer({ minimum: 1, description: 'default: that of a block' })),
    gasPrice: Type.Optional(
      Type.Union([Type.Number(), Type.String({ maxLength: 100 })], { description: 'default: 1e-8' }),
    ),
    admin: Type.Optional(
      Type.Array(Name, {
        maxItems: MAX_LISTED,
        description: 'without sender: modules on which the code has admin rights',
      }),
    ),
    caps: Type.Optional(CapabilityList('without sender: capabilities that are granted; a managed one is installed')),
  },
  { additionalProperties: false, description: 'one of code, continue and cmd' },
)
export type CommandToSimulate = Static<typeof CommandToSimulate>

const RowsToReplace = Type.Record(
  Chain,
  Type.Record(Name, Type.Record(Type.String(), Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]))),
  {
    description: 'chain: qualified table: key: fields of the row, or null for no row. Other fields of a row stay',
  },
)

/** One block of each chain. */
const BlockToSimulate = Type.Object(
  {
    time: Type.Optional(
      Type.String({ maxLength: 40, description: 'block time that code sees, such as 2027-01-01T00:00:00Z' }),
    ),
    rows: Type.Optional(RowsToReplace),
    chains: Type.Optional(
      Type.Record(Chain, Type.Array(CommandToSimulate), { description: 'chain: its commands, in their order' }),
    ),
  },
  { additionalProperties: false },
)
export type BlockToSimulate = Static<typeof BlockToSimulate>

export const SimulateRequest = Type.Object(
  {
    blocks: Type.Array(BlockToSimulate, { minItems: 1, maxItems: MAX_SIMULATED_BLOCKS }),
    trace: Type.Optional(Type.Boolean({ description: 'each step of each command; default: false' })),
  },
  { additionalProperties: false },
)
/** Blocks to simulate. */
export type SimulateRequest = Static<typeof SimulateRequest>

const MaybeObject = (description: string) =>
  Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], { description })

/** A row that a command wrote. */
const ChangedRow = Type.Object({
  table: Type.String(),
  key: Type.String(),
  before: MaybeObject('null for a new row'),
  after: MaybeObject('as later commands find it'),
})

/** A module, keyset, namespace, pact or table that a command wrote. */
const ChangedEntry = Type.Object({
  kind: Type.Union((['module', 'keyset', 'namespace', 'pact', 'table'] as const).map((kind) => Type.Literal(kind))),
  key: Type.String({ description: 'name, or the id of a pact' }),
  before: MaybeObject('null for a new one'),
  after: MaybeObject('as later commands find it; null for a pact at its end'),
})

/** A command with its result. */
const SimulatedCommand = Type.Object({
  name: Type.Union([Type.String(), Type.Null()]),
  block: { ...Count, description: 'position of its block in the request' },
  chain: Count,
  height: Count,
  time: Type.String({ description: 'block time that its code saw' }),
  isInBlock: Type.Boolean({
    description: 'false if a node would have refused it: then it changed nothing, and paid nothing',
  }),
  ...CommandResult.properties,
  fee: Type.Unknown({ description: 'coins paid for gas' }),
  rows: Type.Array(ChangedRow, { description: 'rows that it wrote, gas included' }),
  entries: Type.Array(ChangedEntry, { description: 'modules, keysets, namespaces, pacts and tables that it wrote' }),
  printed: Type.Array(Type.String(), { description: 'texts of `print`' }),
  trace: Type.Optional(TraceStep),
  nodes: Type.Optional({ ...Count, description: 'steps in the tree' }),
  omitted: Type.Optional({ ...Count, description: 'steps that are left out' }),
  modules: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'as in a trace' })),
})

export const Simulated = Type.Object({
  base: Type.Record(Chain, Type.Object({ height: Count, hash: HashText }), {
    description: 'chain: newest block below the simulated ones',
  }),
  gas: { ...Count, description: 'of all commands' },
  commands: Type.Array(SimulatedCommand, { description: 'in the order in which they ran' }),
})

const describeFailure = (description: string) => ({ description, content: { [TEXT]: Type.String() } })

export const simulateOperation = {
  id: 'simulate',
  method: 'POST',
  scope: 'root',
  path: '/devnet/simulate',
  group: 'devnet',
  forThisMachine: true,
  summary: 'run commands in temporary blocks, and return what each does',
  params: Type.Object({}),
  query: Type.Object({}),
  body: { type: 'application/json', schema: SimulateRequest },
  responses: {
    200: { description: 'done', content: { [JSON_TYPE]: Simulated } },
    403: describeFailure('not from this machine'),
    409: describeFailure('the simulation is beyond its limits of gas or of bytes'),
    503: describeFailure('too many queued calls, or the node is stopping'),
  },
} as const satisfies Operation
