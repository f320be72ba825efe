/**
 * Control interface of an embedded node, for tests: bodies and operations below /devnet/. The node serves only programs
 * on its own machine.
 */

import { HashText } from './bodies.ts'
import {
  DropRequest,
  DropResult,
  GasRequest,
  GasState,
  ImpersonateRequest,
  ImpersonateResult,
  RowsRequest,
  RowsResult,
  RunRequest,
  RunResult,
} from './control-commands.ts'
import { ForkState } from './fork-state.ts'
import { MAX_BLOCK_DELAY_MS, MiningMode, MiningState } from './mining-mode.ts'
import { BINARY, Bytes, JSON_TYPE, None, type Operation, text } from './operation.ts'
import { traceOperations } from './replay.ts'
import { ResetRequest } from './reset-request.ts'
import { simulateOperation } from './simulate.ts'
import { type Static, type TSchema, Type } from './typebox.ts'

export { MiningMode } from './mining-mode.ts'
export {
  type BlockToSimulate,
  type CommandToSimulate,
  MAX_SIMULATED_BYTES,
  MAX_SIMULATED_COMMANDS,
  MAX_SIMULATED_GAS,
  MAX_SIMULATED_ROWS,
  type Simulated,
  type SimulateRequest,
} from './simulate.ts'

/** Maximum number of blocks per call, including those on adjacent chains: a call answers when all are made. */
export const MAX_MADE_BLOCKS = 100_000
/** Maximum depth of a reorg on its chain, in blocks: a typing error must not remake the whole network. */
const MAX_REORG_DEPTH = 1000
/** Maximum number of rule changes in the lifetime of a network. Each block is validated against all earlier changes. */
export const MAX_RULE_CHANGES = 10_000
/** Maximum number of calls that one fault affects. */
const MAX_FAULT_COUNT = 1_000_000
/** Maximum delay of a response: ten minutes. */
const MAX_FAULT_DELAY_MS = 600_000
/** Maximum length of a fault's body, in characters. */
const MAX_FAULT_BODY_LENGTH = 64 * 1024
/** Maximum clock change per call: ten years. */
const MAX_CLOCK_ADVANCE_MS = 10 * 365 * 86_400_000
/** Maximum number of snapshots: each keeps the heads, mempools and rules of its time in memory. */
export const MAX_SNAPSHOTS = 1000

const ChainKey = Type.String({ pattern: '^[0-9]+$' })
const Natural = Type.Integer({ minimum: 0 })
const ChainId = Type.Integer({ minimum: 0, description: 'chain' })
const Heights = Type.Record(ChainKey, Natural, { description: 'chain: height' })
const HashesOfChains = Type.Record(ChainKey, Type.Array(HashText), { description: 'chain: block hashes, ascending' })

/** Chain -> number of blocks to add. */
export const BlockCounts = Type.Record(ChainKey, Type.Integer({ minimum: 0, maximum: MAX_MADE_BLOCKS }), {
  minProperties: 1,
  description: 'chain: number of blocks to add',
})

export const MadeBlock = Type.Object({
  height: Natural,
  hash: HashText,
  requestKeys: Type.Array(HashText, { description: 'transactions, in the order of the block' }),
})

export const MadeBlocks = Type.Object({
  made: Type.Record(ChainKey, Natural, { description: 'chain: blocks made, including those for adjacent chains' }),
  blocks: Type.Record(ChainKey, Type.Array(MadeBlock), { description: 'chain: its new blocks, ascending' }),
  heights: Heights,
})

/** An integer; beyond 2^53 - 1 as a string of digits. */
const DifficultyChange = Type.Object(
  {
    difficulty: Type.Union([
      Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
      Type.String({ pattern: '^[1-9][0-9]{0,77}$' }),
    ]),
  },
  { additionalProperties: false, description: 'average number of hashes per block' },
)

const BlockDelayChange = Type.Object(
  {
    blockDelayMs: Type.Number({
      minimum: 0.001,
      maximum: MAX_BLOCK_DELAY_MS,
      description: 'intended time between blocks of a chain',
    }),
  },
  { additionalProperties: false },
)

/** A rule change, and its first height on each chain. */
const RuleChanged = Type.Object({
  difficulty: Type.Optional(Type.String({ pattern: '^[0-9]+$', description: 'hashes' })),
  blockDelayMs: Type.Optional(Type.Number()),
  from: Heights,
})

const ReorgRequest = Type.Object(
  { chain: ChainId, depth: Type.Integer({ minimum: 1, maximum: MAX_REORG_DEPTH, description: 'blocks' }) },
  { additionalProperties: false },
)

const ReorgResult = Type.Object({
  ancestor: Type.Record(ChainKey, Type.Object({ height: Natural, hash: HashText }), {
    description: 'the last common cut of both branches',
  }),
  orphaned: HashesOfChains,
  added: HashesOfChains,
  heights: Heights,
})

const ChainChoice = Type.Object({ chain: ChainId }, { additionalProperties: false })
const PausedChains = Type.Object({ paused: Type.Array(Natural, { description: 'chains' }) })

const StreamAction = Type.Object(
  {
    action: Type.Union([Type.Literal('close'), Type.Literal('stall'), Type.Literal('resume')]),
    stream: Type.Union([Type.Literal('mining'), Type.Literal('header'), Type.Literal('block'), Type.Literal('all')]),
  },
  { additionalProperties: false },
)
const StreamCounts = Type.Object({
  open: Type.Record(Type.String(), Natural, { description: 'stream: number of open ones' }),
  stalled: Type.Array(Type.String()),
})

export const FaultRequest = Type.Object(
  {
    operation: Type.String({ minLength: 1, maxLength: 64, description: 'id of the operation' }),
    count: Type.Integer({ minimum: 0, maximum: MAX_FAULT_COUNT, description: 'number of calls; 0 ends the fault' }),
    status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
    body: Type.Optional(Type.String({ maxLength: MAX_FAULT_BODY_LENGTH })),
    contentType: Type.Optional(Type.String({ pattern: '^[\\x21-\\x7e][\\x20-\\x7e]{0,127}$' })),
    delayMs: Type.Optional(Type.Number({ minimum: 0, maximum: MAX_FAULT_DELAY_MS })),
  },
  { additionalProperties: false },
)
export type FaultRequest = Static<typeof FaultRequest>
/** Active faults by operation. */
const Faults = Type.Object({ faults: Type.Array(FaultRequest) })

/** A control request to the clock: one of these fields. */
export const ClockChange = Type.Object(
  {
    advanceMs: Type.Optional(
      Type.Number({
        minimum: -MAX_CLOCK_ADVANCE_MS,
        maximum: MAX_CLOCK_ADVANCE_MS,
        description: 'negative: back, at most to the newest block, only without proof of work',
      }),
    ),
    to: Type.Optional(
      Type.String({ maxLength: 64, description: 'the clock continues from this time: 2027-01-01T00:00:00Z' }),
    ),
    nextBlock: Type.Optional(
      Type.String({ maxLength: 64, description: 'time of the next block; the clock stands still until then' }),
    ),
    everyMs: Type.Optional(
      Type.Union([Type.Number({ minimum: 0.001, maximum: MAX_CLOCK_ADVANCE_MS }), Type.Null()], {
        description:
          'the clock stands still, and each block of any chain advances it by this much; null: it runs again',
      }),
    ),
  },
  { additionalProperties: false },
)
export const ClockState = Type.Object({
  aheadMs: Type.Number({ description: 'lead over the clock of the machine, in milliseconds' }),
  nowMs: Type.Number({ description: 'milliseconds since the UNIX epoch' }),
  everyMs: Type.Optional(
    Type.Number({ description: 'the clock stands still, and each block advances it by this much' }),
  ),
})

const SnapshotId = Type.Integer({ minimum: 1, description: 'snapshot' })
const NoChoice = Type.Object({}, { additionalProperties: false })
const SnapshotChoice = Type.Object({ id: SnapshotId }, { additionalProperties: false })
export const SnapshotResult = Type.Object({ id: SnapshotId, heights: Heights })
export type SnapshotResult = Static<typeof SnapshotResult>
/** State after a revert; equal to the snapshot. */
export const RevertResult = Type.Object({ heights: Heights, clock: ClockState })
/** State after a reset. */
export const ResetResult = Type.Object({ ...RevertResult.properties, fork: ForkState })

const FundingMethod = Type.Union([Type.Literal('coinbase'), Type.Literal('rows')], {
  description: 'how coins are made: by coin.coinbase, or by rows if that computes the amount itself',
})
export type FundingMethod = Static<typeof FundingMethod>

export const DevnetStatus = Type.Object({
  mode: Type.String(),
  heights: Heights,
  paused: PausedChains.properties.paused,
  streams: StreamCounts,
  faults: Faults.properties.faults,
  clock: ClockState,
  ruleChanges: Type.Array(RuleChanged),
  snapshots: Type.Array(SnapshotId),
  impersonated: ImpersonateResult.properties.keys,
  gas: GasState,
  minting: FundingMethod,
  fork: ForkState,
})

export type DevnetStatus = Static<typeof DevnetStatus>

const failure = (description: string) => text(Type.String(), description)
const foreign = failure('not from this machine')
const busy = failure('too many queued calls, or the node is stopping')

function controlOperation<Id extends string, Body extends TSchema, Result extends TSchema>(
  id: Id,
  path: string,
  summary: string,
  [body, result]: readonly [Body, Result],
  conflict?: string,
) {
  return {
    id,
    method: 'POST',
    scope: 'root',
    path,
    group: 'devnet',
    forThisMachine: true,
    summary,
    params: None,
    query: None,
    body: { type: 'application/json', schema: body },
    responses: {
      200: { description: 'done', content: { [JSON_TYPE]: result } },
      403: foreign,
      ...(conflict !== undefined && { 409: failure(conflict) }),
      503: busy,
    },
  } as const satisfies Operation
}

const resetControl = controlOperation(
  'reset',
  '/devnet/reset',
  'go back to the start of the network, or turn to another fork; undo all settings made by requests',
  [ResetRequest, ResetResult],
  'the node turns to no other network: it keeps its chains on disk, or has proof of work',
)
const resetOperation = {
  ...resetControl,
  responses: { ...resetControl.responses, 502: failure('the node to fork gives no answer, or a wrong one') },
} as const satisfies Operation

const blocks = [BlockCounts, MadeBlocks] as const
const noBlocks = 'a chain that would have to grow is paused, or its difficulty is too high to search for'
const noChange = 'the rules have changed too many times'

export const controlOperations = {
  makeBlocks: controlOperation('makeBlocks', '/devnet/make-blocks', 'make blocks', blocks, noBlocks),
  makeBlocksOnDemand: controlOperation(
    'makeBlocksOnDemand',
    '/make-blocks',
    'make blocks, at the path that on-demand mining clients use',
    blocks,
    noBlocks,
  ),
  setMining: controlOperation(
    'setMining',
    '/devnet/mining',
    'set how the node makes blocks by itself, until it stops',
    [MiningMode, MiningState],
    'the network has proof of work, so miners make its blocks',
  ),
  mining: {
    id: 'mining',
    method: 'GET',
    scope: 'root',
    path: '/devnet/mining',
    group: 'devnet',
    forThisMachine: true,
    summary: 'how the node makes blocks by itself',
    params: None,
    query: None,
    responses: { 200: { description: 'success', content: { [JSON_TYPE]: MiningState } }, 403: foreign },
  },
  drop: controlOperation('drop', '/devnet/drop', 'drop pending transactions', [DropRequest, DropResult]),
  impersonate: controlOperation('impersonate', '/devnet/impersonate', 'set whose signatures are not checked', [
    ImpersonateRequest,
    ImpersonateResult,
  ]),
  run: controlOperation(
    'run',
    '/devnet/run',
    'run code with privileges in a new block, without gas',
    [RunRequest, RunResult],
    'the chain may not grow, or the command has no room',
  ),
  writeRows: controlOperation(
    'writeRows',
    '/devnet/rows',
    'write rows of a table, checked against its schema, in a new block',
    [RowsRequest, RowsResult],
    'the chain may not grow, or the write failed',
  ),
  setGas: controlOperation(
    'setGas',
    '/devnet/gas',
    'set the gas limit of blocks that the node makes, and the lowest gas price',
    [GasRequest, GasState],
  ),
  setDifficulty: controlOperation(
    'setDifficulty',
    '/devnet/difficulty',
    'set the difficulty of the next block of every chain',
    [DifficultyChange, RuleChanged],
    noChange,
  ),
  setBlockDelay: controlOperation(
    'setBlockDelay',
    '/devnet/block-delay',
    'set the intended time between blocks',
    [BlockDelayChange, RuleChanged],
    noChange,
  ),
  fork: controlOperation(
    'fork',
    '/devnet/fork',
    'reorganise: make a heavier branch, from a cut in which the chain is `depth` blocks lower',
    [ReorgRequest, ReorgResult],
    'a chain is too low or paused, or the difficulty is too high to search for',
  ),
  pause: controlOperation('pause', '/devnet/pause', 'stop handing out work for a chain', [ChainChoice, PausedChains]),
  resume: controlOperation('resume', '/devnet/resume', 'resume handing out work for a chain', [
    ChainChoice,
    PausedChains,
  ]),
  streams: controlOperation('streams', '/devnet/streams', 'close, stall or resume event streams', [
    StreamAction,
    StreamCounts,
  ]),
  setFault: controlOperation('setFault', '/devnet/faults', 'make the next calls of an endpoint fail or wait', [
    FaultRequest,
    Faults,
  ]),
  advanceClock: controlOperation(
    'advanceClock',
    '/devnet/clock',
    'move the clock, set it, or let blocks move it',
    [ClockChange, ClockState],
    'the clock cannot go back so far, or not at all',
  ),
  snapshot: controlOperation(
    'snapshot',
    '/devnet/snapshot',
    'save the current chains, rules, mempools and clock',
    [NoChoice, SnapshotResult],
    'there are too many snapshots',
  ),
  revert: controlOperation(
    'revert',
    '/devnet/revert',
    'restore a snapshot, and delete it and all later ones',
    [SnapshotChoice, RevertResult],
    'there is no such snapshot',
  ),
  reset: resetOperation,
  state: {
    id: 'state',
    method: 'GET',
    scope: 'root',
    path: '/devnet/state',
    group: 'devnet',
    forThisMachine: true,
    summary: 'the whole network in one file, with which a node can begin',
    params: None,
    query: None,
    responses: { 200: { description: 'gzip', content: { [BINARY]: Bytes } }, 403: foreign },
  },
  ...traceOperations,
  simulate: simulateOperation,
  devnetStatus: {
    id: 'devnetStatus',
    method: 'GET',
    scope: 'root',
    path: '/devnet/status',
    group: 'devnet',
    forThisMachine: true,
    summary: 'the chains, and all manual settings',
    params: None,
    query: None,
    responses: { 200: { description: 'success', content: { [JSON_TYPE]: DevnetStatus } }, 403: foreign },
  },
} as const satisfies Record<string, Operation>
