/**
 * Plain options of an embedded network: the values that each takes, and its default. Programs, the command line and the
 * settings of a network take them from here, so each default stands once.
 */
import { MAX_PORT } from '../base/host.ts'
import { MAX_PHRASE_ACCOUNTS } from '../chain/development-accounts.ts'
import { DEFAULT_CASTING_BLOCKS, MAX_CASTING_BLOCKS } from '../chain/fork.ts'
import { graphNames } from '../chain/graph.ts'
import type { ProductWord } from '../chain/header-json.ts'
import { isNetworkName } from '../chain/network.ts'
import { MAX_TARGET } from '../chain/target.ts'
import { newestRelease, nodeReleases } from './devnet-modes.ts'

/** The values that an option takes. */
export interface OptionShape<T> {
  /** Completes the error text "expected ...". */
  readonly expected: string
  readonly fits: (value: unknown) => value is T
}

type ValueOf<Shape> = Shape extends OptionShape<infer T> ? T : never

/** The same shape with a default. */
const withDefault = <Shape extends OptionShape<unknown>>(shape: Shape, fallback: ValueOf<Shape>) => ({
  ...shape,
  fallback,
})

/** Text that is not empty. */
export const textOption: OptionShape<string> = {
  expected: 'some text',
  fits: (value): value is string => typeof value === 'string' && value !== '',
}

/** Whether a value is a number above 0, and finite. */
export const isPositive = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0

const yesOrNo: OptionShape<boolean> = {
  expected: 'true or false',
  fits: (value) => typeof value === 'boolean',
}
const time: OptionShape<number> = { expected: 'a number of milliseconds above 0', fits: isPositive }
const timeOrNone: OptionShape<number> = {
  expected: 'a number of milliseconds',
  fits: (value): value is number => value === 0 || isPositive(value),
}

function wholeNumber(min: number, max: number) {
  return {
    expected: `a whole number from ${min} to ${max}`,
    fits: (value: unknown): value is number =>
      Number.isInteger(value) && (value as number) >= min && (value as number) <= max,
    /** Least and greatest value. */
    range: [min, max] as const,
  }
}
const count = wholeNumber(0, Number.MAX_SAFE_INTEGER)

function oneOf<T extends string>(values: readonly T[]) {
  return {
    expected: `one of ${values.map((value) => `'${value}'`).join(', ')}`,
    fits: (value: unknown): value is T => values.includes(value as T),
    values,
  }
}

/** 22 days. Timers of Node.js fire at once when set to 25 days or more, and streams may stay open a tenth longer. */
const MAX_TIMER_MS = 1_900_000_000

/** A time that timers wait for. Longer ones count as 22 days. */
const timer = (shape: OptionShape<number>, fallback: number) => ({
  ...withDefault(shape, fallback),
  most: MAX_TIMER_MS,
})

/** Limits of a node. DevnetOptions documents each. */
export const limitOptions = {
  updateStreamMs: timer(time, 240_000),
  updateStreamLimit: withDefault(count, 2000),
  headerStreamLimit: withDefault(count, 2000),
  workLimit: withDefault(count, 1200),
  workLifetimeMs: withDefault(time, 300_000),
  refreshMs: timer(timeOrNone, 15_000),
  listenLimit: withDefault(count, 1000),
  listenMs: timer(time, 180_000),
  requestTimeoutMs: timer(time, 30_000),
}

/** Options whose values are texts, numbers or switches. `fallback` is the default, where there is one. */
export const plainOptions = {
  host: withDefault(textOption, '127.0.0.1'),
  port: withDefault(wholeNumber(0, MAX_PORT), 1848),
  dataDir: textOption,
  stateFile: textOption,
  backupDir: textOption,
  networkName: {
    expected: 'the name of a chainweb network, such as mainnet01',
    fits: isNetworkName,
  },
  graph: withDefault(oneOf(graphNames), 'twenty'),
  blockDelayMs: withDefault(time, 30_000),
  difficulty: withDefault<OptionShape<bigint>>(
    {
      expected: 'a bigint of at least 1 and below 2^256',
      fits: (value): value is bigint => typeof value === 'bigint' && value >= 1n && value <= MAX_TARGET,
    },
    100_000n,
  ),
  pow: withDefault(yesOrNo, true),
  nodeRelease: withDefault(oneOf(nodeReleases), newestRelease),
  forkEpoch: withDefault(wholeNumber(1, MAX_CASTING_BLOCKS), DEFAULT_CASTING_BLOCKS),
  forkTarget: wholeNumber(0, 0xffff_ffff),
  entity: textOption,
  product: withDefault(oneOf<ProductWord>(['chainweb', 'ledger']), 'chainweb'),
  ...limitOptions,
  phraseAccounts: withDefault(wholeNumber(0, MAX_PHRASE_ACCOUNTS), 0),
  allowPrint: withDefault(yesOrNo, false),
}
