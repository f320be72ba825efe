/**
 * The control request to reset a network: to its own start, to a fork of another network, or to a new network of its
 * own.
 */
import { HashText } from './bodies.ts'
import { type Static, Type } from './typebox.ts'

/** Maximum length of an address, as servers commonly limit it. */
const MAX_URL = 2048
/** Maximum length of the text of a cut: that of a cut of all chains is far shorter. */
const MAX_CUT = 100_000
/** Maximum number of items of a list. */
const MAX_LISTED = 1000
/** Maximum timeout: an hour. */
const MAX_TIMEOUT_MS = 3_600_000

const Height = Type.Integer({ minimum: 0, description: 'height of the pinned blocks' })
const Cut = Type.Object(
  {
    network: Type.Optional(Type.String({ maxLength: 64 })),
    hashes: Type.Record(Type.String({ pattern: '^[0-9]+$' }), Type.Object({ height: Height, hash: HashText }), {
      description: 'chain: its block',
    }),
  },
  { description: 'a cut, as a fork prints it, or GET /cut of a node' },
)
const CutText = Type.String({ maxLength: MAX_CUT, pattern: '^\\s*([0-9]+|\\{[\\s\\S]*)$', description: 'text of one' })

/** A fork of another network, by the options of `newcut devnet`. */
export const ForkChange = Type.Object(
  {
    url: Type.Optional(
      Type.String({ pattern: '^https?://', maxLength: MAX_URL, description: 'a node of the network' }),
    ),
    cut: Type.Optional(
      Type.Union([Height, CutText, Cut, Type.Null()], {
        description: 'where to fork; null, or left out: 10 blocks below the lowest head',
      }),
    ),
    chains: Type.Optional(
      Type.Union([Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1, maxItems: MAX_LISTED }), Type.Null()], {
        description: 'chains to fork; null: all',
      }),
    ),
    cacheFolder: Type.Optional(
      Type.Union([Type.String({ minLength: 1, maxLength: MAX_URL }), Type.Null()], {
        description: 'folder of fetched state, on the machine of the node; null: it stays in memory',
      }),
    ),
    perSecond: Type.Optional(
      Type.Number({ minimum: 0.001, maximum: 10_000, description: 'most requests in a second' }),
    ),
    timeoutMs: Type.Optional(
      Type.Number({ minimum: 1, maximum: MAX_TIMEOUT_MS, description: 'longest wait for an answer' }),
    ),
    tableRows: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000_000, description: 'most rows of a table that is read as a whole' }),
    ),
    pactKeys: Type.Optional(
      Type.Array(HashText, {
        maxItems: MAX_LISTED,
        description: 'request keys of commands that continued pacts before the fork',
      }),
    ),
    time: Type.Optional(
      Type.Union([Type.Literal('now'), Type.Literal('pinned')], { description: 'time of the first block' }),
    ),
  },
  {
    additionalProperties: false,
    description: 'fields that are left out, except the cut, are as at the start of the node',
  },
)
export type ForkChange = Static<typeof ForkChange>

export const ResetRequest = Type.Object(
  {
    fork: Type.Optional(
      Type.Union([ForkChange, Type.Null()], {
        description: 'turns to a fork; null: to a new network of its own; left out: back to the start of this network',
      }),
    ),
  },
  { additionalProperties: false },
)
