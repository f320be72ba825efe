/**
 * A network as its file describes it (networks/*.yaml), and how it becomes a {@link NetworkDefinition}. The schema of the
 * file (schema/network-file.ts) has checked the shapes; this module checks what no schema can.
 */
import { decodeHash } from '../base/bytes.ts'
import type { CoinbaseGrant, PaymentModel, RewardCall, RewardForecast } from './coinbase.ts'
import { type Condition, compareConditions, DEFAULT_CASTING_BLOCKS } from './fork.ts'
import type { GasModel } from './gas.ts'
import { type Graph, type GraphName, graphOf, graphs } from './graph.ts'
import { isNetworkName, type Network, type NetworkDefinition, type VerifierName } from './network.ts'
import { targetOfDifficulty } from './target.ts'

/** `genesis`, a height, a fork number, or `never`. */
export type ConditionForm = 'genesis' | 'never' | number | { readonly fork: number }

/** Code of a transaction in the first block, and its data. */
export interface GenesisTransaction {
  /** Chains whose first block has it, such as `0` or `1-9`. Default: all. */
  readonly chains?: string | number
  readonly code: string
  readonly data?: Readonly<Record<string, unknown>>
}

/** A file of `networks/`, parsed. CONFIGURATION.md says what each property means. */
export interface NetworkForm {
  /** Version of the form. */
  readonly network: 1
  readonly name: string
  readonly code?: number
  readonly public?: boolean
  /** A list instead of a name has the adjacent chains of each chain. */
  readonly graphs?: readonly { readonly from: number; readonly graph: GraphName | readonly (readonly number[])[] }[]
  /** Such as `30s`, `500ms` or `1.5m`. */
  readonly 'block-delay'?: string
  readonly window?: number | 'none'
  readonly genesis?: {
    /** ISO 8601 with up to six decimal places of the second. */
    readonly time?: string
    readonly targets?: readonly {
      readonly chains?: string | number
      readonly difficulty?: number
      readonly target?: string
    }[]
    readonly 'any-target'?: boolean
    readonly payloads?: readonly { readonly chains?: string | number; readonly hash: string }[]
    readonly 'first-epoch'?: 'faked' | 'plain'
    /** Contracts of the first block on a development node, in place of Kadena's. */
    readonly transactions?: readonly GenesisTransaction[]
  }
  readonly rules?: {
    readonly 'slow-epochs-until'?: ConditionForm
    readonly 'parent-time'?: ConditionForm
    readonly 'mean-target'?: ConditionForm
    readonly 'fork-flags'?: 'genesis' | 'never' | number
    /** From here, code follows language release 5.4.1. Default: as the node release. */
    readonly 'language-5.4.1'?: ConditionForm
  }
  readonly forks?: { readonly highest: number; readonly casting?: number }
  readonly gas?: {
    readonly block?: number
    readonly sizes?: readonly { readonly from: ConditionForm; readonly model: GasModel }[]
  }
  readonly coin?: {
    /** Default: `KDA`. */
    readonly symbol?: string
    /** Default: `event`. `result` needs a pattern, and `call` a call. */
    readonly payment?: PaymentModel['model']
    readonly pattern?: string
    /** Code whose value is the reward of a block. */
    readonly call?: RewardCall
    /** Default: `table`. `call` needs a call. */
    readonly forecast?: RewardForecast['model']
    /** Capabilities of the contract that a coinbase has. Default: COINBASE. `DEBIT` is about the miner. */
    readonly grants?: readonly CoinbaseGrant[]
    /** `returned`: the result of a coinbase is what the contract returns. Default: `fixed`, the text of Kadena's nodes. */
    readonly result?: 'fixed' | 'returned'
  }
  /** Default: all verifiers at all heights. */
  readonly verifiers?: readonly { readonly from: ConditionForm; readonly names: readonly VerifierName[] }[]
  readonly 'spv-window'?: readonly { readonly from: ConditionForm; readonly blocks: number | 'none' }[]
}

/** A value that cannot be. `path` leads to it in the file. */
export class NetworkFormError extends Error {
  readonly path: readonly (string | number)[]

  constructor(path: readonly (string | number)[], message: string) {
    super(message)
    this.path = path
  }
}

type Path = readonly (string | number)[]

/** Milliseconds of each unit. */
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/**
 * The network that a file describes, such as for `networks` of a client.
 * @param form of the shape of networks/*.yaml
 * @throws NetworkFormError that leads to the wrong value
 */
export function definitionOf(form: NetworkForm): NetworkDefinition {
  const { genesis = {}, rules = {}, gas = {} } = form
  if (!isNetworkName(form.name)) {
    throw new NetworkFormError(['name'], 'expected up to 64 letters, digits, dots and dashes')
  }
  const graphHistory = form.graphs && graphHistoryOf(form.graphs)
  const time = genesis.time === undefined ? undefined : microsecondsOf(genesis.time, ['genesis', 'time'])
  for (const [i, { chains }] of genesis.transactions?.entries() ?? []) chainsIn(chains, ['genesis', 'transactions', i])
  const headerRules = conditionsIf({
    endOfEmergencyAdjustment: rules['slow-epochs-until'],
    parentTime: rules['parent-time'],
    meanTarget: rules['mean-target'],
  })
  const flags = rules['fork-flags']
  return {
    name: form.name,
    isPublic: form.public ?? true,
    ...(form.code !== undefined && { code: form.code }),
    ...(graphHistory !== undefined && { graphHistory }),
    ...(form['block-delay'] !== undefined && { blockDelay: delayOf(form['block-delay']) }),
    ...(form.window !== undefined && { window: form.window === 'none' ? null : form.window }),
    ...(time !== undefined && { genesisTime: time }),
    ...(genesis.targets !== undefined && { genesisTarget: targetsOf(genesis.targets, graphHistory) }),
    takesAnyGenesisTarget: genesis['any-target'] ?? false,
    genesisPayload: payloadsOf(genesis.payloads ?? []),
    ...(genesis['first-epoch'] !== undefined && { fakeFirstEpochStart: genesis['first-epoch'] === 'faked' }),
    ...(headerRules !== undefined && { rules: headerRules }),
    ...(flags !== undefined &&
      form.forks !== undefined && {
        forks: {
          from: conditionOf(flags) as number,
          castingBlocks: form.forks.casting ?? DEFAULT_CASTING_BLOCKS,
          highestKnown: form.forks.highest,
        },
      }),
    ...(gas.block !== undefined && { blockGas: gas.block }),
    gasModels: ascending(gas.sizes ?? [], ['gas', 'sizes']),
    ...(rules['language-5.4.1'] !== undefined && { language541: conditionOf(rules['language-5.4.1']) }),
    symbol: form.coin?.symbol ?? 'KDA',
    payment: paymentOf(form.coin),
    coinbase: { grants: form.coin?.grants ?? ['COINBASE'], isReturned: form.coin?.result === 'returned' },
    forecast: forecastOf(form.coin),
    ...(form.verifiers !== undefined && { verifiers: ascending(form.verifiers, ['verifiers']) }),
    spvWindows: ascending(form['spv-window'] ?? [], ['spv-window']).map(({ from, blocks }) => {
      return { from, blocks: blocks === 'none' ? null : blocks }
    }),
  }
}

const conditionOf = (form: ConditionForm): Condition =>
  form === 'genesis' ? 0 : form === 'never' ? Number.POSITIVE_INFINITY : form

/** All conditions, or undefined if one is missing. */
function conditionsIf<Name extends string>(
  forms: Readonly<Record<Name, ConditionForm | undefined>>,
): Readonly<Record<Name, Condition>> | undefined {
  const entries = Object.entries<ConditionForm | undefined>(forms)
  if (entries.some(([, form]) => form === undefined)) return undefined
  return Object.fromEntries(entries.map(([name, form]) => [name, conditionOf(form as ConditionForm)])) as Readonly<
    Record<Name, Condition>
  >
}

function ascending<T extends { readonly from: ConditionForm }>(entries: readonly T[], path: Path) {
  const read = entries.map((entry) => ({ ...entry, from: conditionOf(entry.from) }))
  read.forEach(({ from }, i) => {
    if (i > 0 && compareConditions(read[i - 1].from, from) >= 0) {
      throw new NetworkFormError(
        [...path, i, 'from'],
        'expected a later one than before: heights first, then fork numbers',
      )
    }
  })
  return read
}

function graphHistoryOf(entries: NonNullable<NetworkForm['graphs']>): { from: number; graph: Graph }[] {
  return entries.map(({ from, graph }, i) => {
    const last = i === 0 ? -1 : entries[i - 1].from
    if (i === 0 ? from !== 0 : from <= last) {
      const expected = i === 0 ? '0' : `more than ${last}`
      throw new NetworkFormError(
        ['graphs', i, 'from'],
        `expected ${expected}, as graphs are in the order of their heights`,
      )
    }
    if (typeof graph === 'string') return { from, graph: graphs[graph] }
    const checked = graphOf(graph)
    if (typeof checked === 'string') throw new NetworkFormError(['graphs', i, 'graph'], checked)
    return { from, graph: checked }
  })
}

function delayOf(text: string): bigint {
  const [, digits, unit] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/.exec(text) ?? []
  const microseconds = Math.round(Number(digits) * UNITS[unit] * 1_000)
  if (!(microseconds >= 1)) throw new NetworkFormError(['block-delay'], 'expected a time such as 30s or 500ms')
  return BigInt(microseconds)
}

/** Microseconds since 1970. A Date has milliseconds only. */
function microsecondsOf(text: string, path: Path): bigint {
  const [, upToSecond, fraction = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/.exec(text) ?? []
  const milliseconds = Date.parse(`${upToSecond}Z`)
  if (!Number.isFinite(milliseconds)) {
    throw new NetworkFormError(path, 'expected a time such as 2026-02-23T18:00:00Z')
  }
  return BigInt(milliseconds) * 1_000n + BigInt(fraction.padEnd(6, '0'))
}

type Coin = NonNullable<NetworkForm['coin']>

function paymentOf(coin: Coin = {}): PaymentModel {
  const { payment = 'event', pattern } = coin
  const path = ['coin', 'pattern']
  if (payment !== 'result' && pattern !== undefined) {
    throw new NetworkFormError(path, 'expected none: only the payment `result` has a pattern')
  }
  if (payment === 'call') return { model: payment, call: callOf(coin, 'payment') }
  if (payment !== 'result') return { model: payment }
  if (pattern?.split('{amount}').length !== 2) {
    throw new NetworkFormError(
      pattern === undefined ? ['coin', 'payment'] : path,
      'expected a pattern with one {amount}',
    )
  }
  return { model: payment, pattern }
}

function forecastOf(coin: Coin = {}): RewardForecast {
  const { payment, forecast = 'table', call } = coin
  if (call !== undefined && payment !== 'call' && forecast !== 'call') {
    throw new NetworkFormError(['coin', 'call'], 'expected none: neither payment nor forecast is `call`')
  }
  return forecast === 'call' ? { model: forecast, call: callOf(coin, 'forecast') } : { model: forecast }
}

function callOf({ call }: Coin, user: 'payment' | 'forecast'): RewardCall {
  if (call !== undefined) return call
  throw new NetworkFormError(['coin', user], 'expected coin.call too, the code whose value is the reward of a block')
}

type Targets = NonNullable<NonNullable<NetworkForm['genesis']>['targets']>

/** The last entry also covers chains of unknown graphs that no entry names. */
function targetsOf(entries: Targets, graphs: Network['graphHistory'] = []): (chain: number) => bigint {
  const read = entries.map(({ chains, difficulty, target }, i) => {
    const path = ['genesis', 'targets', i]
    if ((difficulty === undefined) === (target === undefined)) {
      throw new NetworkFormError(path, 'expected either difficulty or target')
    }
    const value = target === undefined ? targetOfDifficulty(BigInt(difficulty ?? 1)) : BigInt(`0x${target}`)
    return { has: chainsIn(chains, path), value }
  })
  const chains = Math.max(0, ...graphs.map(({ graph }) => graph.adjacents.length))
  for (let chain = 0; chain < chains; chain++) {
    if (read.some(({ has }) => has(chain))) continue
    throw new NetworkFormError(['genesis', 'targets'], `expected a target for each chain, also for chain ${chain}`)
  }
  return (chain) => (read.find(({ has }) => has(chain)) ?? read[read.length - 1]).value
}

type Payloads = NonNullable<NonNullable<NetworkForm['genesis']>['payloads']>

function payloadsOf(entries: Payloads): (chain: number) => string | null {
  const read = entries.map(({ chains, hash }, i) => {
    const path = ['genesis', 'payloads', i]
    try {
      decodeHash(hash, 'hash')
    } catch {
      throw new NetworkFormError([...path, 'hash'], 'expected a hash: 43 characters of base64url')
    }
    return { has: chainsIn(chains, path), hash }
  })
  return (chain) => read.find(({ has }) => has(chain))?.hash ?? null
}

/**
 * `3` or `0-9`; without a text all chains.
 * @param path of the entry that names them
 * @throws NetworkFormError
 */
export function chainsIn(chains: string | number | undefined, path: Path): (chain: number) => boolean {
  if (chains === undefined) return () => true
  const [, from, to = from] = /^(\d{1,3})(?:-(\d{1,3}))?$/.exec(String(chains)) ?? []
  if (from === undefined || Number(to) < Number(from)) {
    throw new NetworkFormError([...path, 'chains'], 'expected a chain or chains, such as 0 or 0-9')
  }
  return (chain) => chain >= Number(from) && chain <= Number(to)
}
