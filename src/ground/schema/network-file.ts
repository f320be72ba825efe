/**
 * Schema of the file of a network (networks/*.yaml, `--network-file`). core/network-form.ts has its meaning. Each
 * description completes the sentence "expected ...".
 */
import { graphNames, MAX_CHAINS } from '../chain/graph.ts'
import { verifierNames } from '../chain/network.ts'
import { type Static, type TSchema, Type } from './typebox.ts'

const closed = { additionalProperties: false }
const optional = Type.Optional
const oneOf = <T extends string>(...words: T[]) =>
  Type.Union(
    words.map((word) => Type.Literal(word)),
    { description: words.join(' or ') },
  )
const wholeNumber = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` })
const wholeNumberOr = <T extends string>(word: T, minimum: number, maximum: number) =>
  Type.Union([Type.Literal(word), wholeNumber(minimum, maximum)], {
    description: `${word}, or a whole number from ${minimum} to ${maximum}`,
  })
const list = <T extends TSchema>(item: T, minItems = 0) =>
  Type.Array(item, { minItems, description: minItems === 0 ? 'a list' : 'a list that is not empty' })

const u32 = wholeNumber(0, 0xffff_ffff)
const height = wholeNumber(0, Number.MAX_SAFE_INTEGER)
const text = Type.String({ description: 'a text' })
const yesNo = Type.Boolean({ description: 'true or false' })
const fork = Type.Object({ fork: wholeNumber(1, 0xffff_ffff) }, closed)
const condition = Type.Union([Type.Literal('genesis'), Type.Literal('never'), height, fork], {
  description: 'genesis, a height, { fork: N } or never',
})
const heightOrNever = Type.Union([Type.Literal('genesis'), Type.Literal('never'), height], {
  description: 'genesis, a height or never',
})
const chains = Type.Union([Type.String(), Type.Integer()], { description: 'a chain or chains, such as 0 or 0-9' })
const adjacents = Type.Array(Type.Array(wholeNumber(0, MAX_CHAINS - 1)))
const graph = Type.Union([...graphNames.map((name) => Type.Literal(name)), adjacents], {
  description: `${graphNames.join(', ')}, or the list of the adjacent chains of each chain`,
})

const target = Type.Object(
  {
    chains: optional(chains),
    difficulty: optional(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
    target: optional(Type.String({ pattern: '^[0-9a-fA-F]{64}$', description: '64 hex digits in quotes, high first' })),
  },
  closed,
)
const transaction = Type.Object(
  {
    chains: optional(chains),
    code: text,
    data: optional(Type.Record(Type.String(), Type.Unknown(), { description: 'an object' })),
  },
  closed,
)
const genesis = Type.Object(
  {
    time: optional(text),
    targets: optional(list(target, 1)),
    'any-target': optional(yesNo),
    payloads: optional(list(Type.Object({ chains: optional(chains), hash: text }, closed))),
    'first-epoch': optional(oneOf('faked', 'plain')),
    transactions: optional(list(transaction, 1)),
  },
  closed,
)
const rules = Type.Object(
  {
    'slow-epochs-until': optional(condition),
    'parent-time': optional(condition),
    'mean-target': optional(condition),
    'fork-flags': optional(heightOrNever),
    'language-5.4.1': optional(condition),
  },
  closed,
)
const gas = Type.Object(
  {
    block: optional(wholeNumber(1, 1_000_000_000)),
    sizes: optional(list(Type.Object({ from: condition, model: oneOf('pre31', 'post31', 'post32') }, closed))),
  },
  closed,
)

const coin = Type.Object(
  {
    symbol: optional(Type.String({ pattern: '^[A-Za-z0-9]{1,12}$', description: '1 to 12 letters or digits' })),
    payment: optional(oneOf('event', 'result', 'table', 'call')),
    pattern: optional(text),
    call: optional(Type.Object({ code: text, chain: optional(wholeNumber(0, 999)) }, closed)),
    forecast: optional(oneOf('table', 'none', 'call')),
    grants: optional(list(oneOf('COINBASE', 'DEBIT'))),
    result: optional(oneOf('fixed', 'returned')),
  },
  closed,
)

export const NetworkFile = Type.Object(
  {
    network: Type.Literal(1, { description: '1, the version of this form' }),
    name: text,
    code: optional(u32),
    public: optional(yesNo),
    graphs: optional(list(Type.Object({ from: height, graph }, closed), 1)),
    'block-delay': optional(text),
    window: optional(wholeNumberOr('none', 1, 1_000_000)),
    genesis: optional(genesis),
    rules: optional(rules),
    forks: optional(Type.Object({ highest: u32, casting: optional(wholeNumber(1, 4_000_000)) }, closed)),
    gas: optional(gas),
    coin: optional(coin),
    verifiers: optional(list(Type.Object({ from: condition, names: list(oneOf(...verifierNames)) }, closed))),
    'spv-window': optional(
      list(Type.Object({ from: condition, blocks: wholeNumberOr('none', 1, Number.MAX_SAFE_INTEGER) }, closed)),
    ),
  },
  closed,
)
export type NetworkFile = Static<typeof NetworkFile>
