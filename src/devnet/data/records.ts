/**
 * Records of the block database. Every value is sealed (database.ts).
 *
 *     network              JSON: format of the database, settings of the network, automatic mining mode
 *     tip                  JSON: number of blocks and of rule changes, heads by chain
 *     rules                JSON: rule changes
 *     block/0000000123     header (210 + 36 x degree bytes); numbers count from 0 in the order of addition
 *     let-in/KEY           unsigned or privileged: why the command with this request key is exempt (exemptions.ts);
 *                          prints: the block of KEY, which is `prints:HASH`, has code that names `print`
 *     payload/HASH         payload record (payload-record.ts); HASH: payload hash, base64url
 */

import { encodeBase64Url } from '#ground/base/bytes.ts'
import { operatingError } from '#ground/base/errors.ts'
import { MAX_CASTING_BLOCKS } from '#ground/chain/fork.ts'
import { graphNames } from '#ground/chain/graph.ts'
import { development } from '#ground/chain/network-data.ts'
import { HashText } from '#ground/schema/bodies.ts'
import { MAX_CONFIRMATIONS, nodeReleases } from '#ground/schema/devnet-modes.ts'
import { NetworkFile } from '#ground/schema/network-file.ts'
import { Compile, type Static, Type } from '#ground/schema/typebox.ts'
import type { ChainState } from '../rules/journal.ts'
import type { RuleChange } from '../rules/rule-history.ts'
import type { NetworkSettings } from '../rules/settings.ts'
import type { BlockStore } from '../store/block-store.ts'
import type { Exemption, ExemptionRecord } from '../store/exemptions.ts'
import type { StoredPayload } from '../store/payload.ts'
import { encodePayloadRecord } from '../store/payload-record.ts'
import { type Database, jsonEntry, readJsonRecord, type StoredEntry, seal } from './database.ts'
import { damagedError, dataErrors } from './errors.ts'

const FORMAT = 2
const NUMBER_DIGITS = 10

const NETWORK_KEY = 'network'
const TIP_KEY = 'tip'
const RULES_KEY = 'rules'
/** Key range of the exemptions. */
const EXEMPTION_KEYS = { gte: 'let-in/', lt: 'let-in0' }
/** Key range of all blocks: from `gte` (included) to `lt` (excluded); '0' follows '/'. */
export const BLOCK_KEYS = { gte: 'block/', lt: 'block0' }

export const blockKey = (number: number) => `block/${String(number).padStart(NUMBER_DIGITS, '0')}`
export const payloadKey = (payloadHash: Uint8Array) => `payload/${encodeBase64Url(payloadHash)}`

const Natural = Type.Integer({ minimum: 0 })
const Decimal = Type.String({ pattern: '^[0-9]{1,80}$' })

const AutoMineRecord = Type.Union([
  Type.Object({ kind: Type.Literal('on-demand') }),
  Type.Object({
    kind: Type.Literal('on-arrival'),
    confirmations: Type.Integer({ minimum: 0, maximum: MAX_CONFIRMATIONS }),
  }),
  Type.Object({ kind: Type.Literal('constant'), blockTimeMs: Type.Number({ exclusiveMinimum: 0 }) }),
  Type.Object({ kind: Type.Literal('simulated'), hashesPerSecond: Type.Number({ exclusiveMinimum: 0 }) }),
])
const NetworkRecord = Type.Object({
  format: Type.Literal(FORMAT),
  graph: Type.Union([...graphNames.map((name) => Type.Literal(name)), Type.Array(Type.Array(Natural))]),
  blockDelayMs: Type.Number({ exclusiveMinimum: 0 }),
  difficulty: Decimal,
  pow: Type.Boolean(),
  adjusts: Type.Boolean(),
  // Networks that an older newcut created have none of these.
  release: Type.Optional(Type.Union(nodeReleases.map((name) => Type.Literal(name)))),
  forkEpoch: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_CASTING_BLOCKS })),
  autoMine: Type.Optional(Type.Union([AutoMineRecord, Type.Null()])),
  network: Type.Optional(Type.Union([Type.String(), NetworkFile])),
})
const TipRecord = Type.Object({ blocks: Natural, ruleChanges: Natural, heads: Type.Array(HashText) })
const RulesRecord = Type.Array(
  Type.Object({
    blocks: Natural,
    until: Type.Optional(Natural),
    from: Type.Array(Natural),
    target: Type.Optional(Decimal),
    blockDelay: Type.Optional(Decimal),
  }),
)
const networkRecord = Compile(NetworkRecord)
const tipRecord = Compile(TipRecord)
const rulesRecord = Compile(RulesRecord)
const exemptionRecord = Compile(
  Type.Union([Type.Literal('unsigned'), Type.Literal('privileged'), Type.Literal('prints')]),
)

export type Tip = Static<typeof TipRecord>

/** A state at one moment. The store only grows, so its first `blocks` blocks never change. */
export interface StateSnapshot {
  readonly store: BlockStore
  readonly blocks: number
  /** Hashes by chain, as in JSON. */
  readonly heads: readonly string[]
  readonly ruleChanges: readonly RuleChange[]
}

export function stateSnapshotOf({ store, heads, ruleChanges }: ChainState): StateSnapshot {
  const byChain = [...heads].sort(([a], [b]) => a - b).map(([, { hash }]) => encodeBase64Url(hash))
  return { store, blocks: store.size, heads: byChain, ruleChanges: [...ruleChanges] }
}

export function networkEntry({ difficulty, ...settings }: NetworkSettings): StoredEntry {
  return jsonEntry(NETWORK_KEY, { format: FORMAT, ...settings, difficulty: String(difficulty) })
}

export function tipEntry({ blocks, heads, ruleChanges }: StateSnapshot): StoredEntry {
  return jsonEntry(TIP_KEY, { blocks, ruleChanges: ruleChanges.length, heads })
}

export function rulesEntry(changes: readonly RuleChange[]): StoredEntry {
  const text = (value: bigint | undefined) => (value === undefined ? undefined : String(value))
  const record = changes.map(({ target, blockDelay, ...change }) => {
    return { ...change, target: text(target), blockDelay: text(blockDelay) }
  })
  return jsonEntry(RULES_KEY, record)
}

export function blockEntry(number: number, header: Uint8Array): StoredEntry {
  return { type: 'put', key: blockKey(number), value: seal(header) }
}

/** The record of an exemption. */
export function exemptionEntry([key, exemption]: ExemptionRecord): StoredEntry {
  return jsonEntry(`${EXEMPTION_KEYS.gte}${key}`, exemption)
}

/** Reads the exemptions. @throws NewcutError DATA_UNUSABLE if a record is damaged */
export async function readExemptions(database: Database): Promise<[string, Exemption][]> {
  const keys = await database.keys(EXEMPTION_KEYS).all()
  return keys.map((key) => [
    key.slice(EXEMPTION_KEYS.gte.length),
    expectForm(database, key, exemptionRecord, readJsonRecord(database, key)),
  ])
}

export function payloadEntry(payload: StoredPayload): StoredEntry {
  return { type: 'put', key: payloadKey(payload.payloadHash), value: seal(encodePayloadRecord(payload)) }
}

/**
 * Reads the settings of the network.
 * @throws NewcutError DATA_UNUSABLE if the database is none of a network, or has another format
 */
export function readSettings(database: Database): NetworkSettings {
  const record = readJsonRecord(database, NETWORK_KEY)
  if (record === undefined) throw damagedError(database.location, 'a database, but not one of a newcut network')
  const format = (record as { format?: unknown }).format
  if (format !== FORMAT) {
    const values = { location: database.location, format: String(format), own: FORMAT }
    throw operatingError(dataErrors.otherFormat, values)
  }
  const {
    graph,
    blockDelayMs,
    difficulty,
    pow,
    adjusts,
    // Defaults for networks without these settings: their blocks follow these rules.
    release = '2.32',
    forkEpoch = development.forks.castingBlocks,
    autoMine = null,
    network,
  } = expectForm(database, NETWORK_KEY, networkRecord, record)
  const name = network === undefined ? {} : { network }
  return { graph, blockDelayMs, difficulty: BigInt(difficulty), pow, adjusts, release, forkEpoch, autoMine, ...name }
}

/** Reads the tip. @throws NewcutError DATA_UNUSABLE if it is missing or malformed */
export function readTip(database: Database): Tip {
  return expectForm(database, TIP_KEY, tipRecord, readJsonRecord(database, TIP_KEY))
}

/** Reads the rule changes. @throws NewcutError DATA_UNUSABLE if they are malformed */
export function readRules(database: Database): RuleChange[] {
  const record = expectForm(database, RULES_KEY, rulesRecord, readJsonRecord(database, RULES_KEY) ?? [])
  return record.map(({ target, blockDelay, ...change }) => ({
    ...change,
    ...(target !== undefined && { target: BigInt(target) }),
    ...(blockDelay !== undefined && { blockDelay: BigInt(blockDelay) }),
  }))
}

function expectForm<T>(
  database: Database,
  key: string,
  validator: { Check(value: unknown): value is T },
  value: unknown,
) {
  if (!validator.Check(value)) throw damagedError(database.location, `the record ${key} has the wrong form`)
  return value
}
