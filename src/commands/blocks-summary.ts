/** The sums of `newcut blocks --summary`: counts and coins of a journal, for each network. */
import { counted } from '../cli/line.ts'
import { exactSum } from '../core/coin-sums.ts'
import { moneyText } from '../core/money-text.ts'
import { type StepName, stepNames, verdictOf } from '../core/solution.ts'
import type { BlockRecord } from '../journal/record.ts'
import type { Price } from '../mine/profit.ts'

/** Paid blocks of a span of time. */
interface Paid {
  /** Blocks in their chains with a known reward. */
  readonly blocks: number
  /** Rewards and fees together, as a decimal number. */
  readonly coins: string
  /** The part of `coins` that transactions paid. */
  readonly fees: string
  /** `coins` at the stated price; null without one. */
  readonly value: number | null
}

export interface NetworkSummary {
  readonly network: string
  /** Paid accounts, in the order of their first block. */
  readonly accounts: readonly string[]
  /** When the first and the last solution were found, UTC, ISO 8601. */
  readonly firstFoundAt: string
  readonly lastFoundAt: string
  readonly solutions: number
  /** State -> number of solutions, without zeros. */
  readonly states: Readonly<Partial<Record<StepName, number>>>
  readonly paid: Paid
  readonly lastDay: Paid
  readonly lastWeek: Paid
  readonly lastMonth: Paid
  /** Blocks in their chains whose reward is unknown. */
  readonly unknownBlocks: number
  /** Settled solutions that are not in their chains, as a share of all settled ones; null if none is settled. */
  readonly lostShare: number | null
  readonly currency: string | null
}

const DAY_MS = 86_400_000
const WEEK_DAYS = 7
const MONTH_DAYS = 30

/** @param nowMs end of the last day, week and month, Unix time */
export function summariesOf(records: readonly BlockRecord[], nowMs: number, price?: Price): NetworkSummary[] {
  const networks = [...new Set(records.map(({ network }) => network))]
  return networks.map((network) => {
    const own = records.filter((record) => record.network === network)
    const times = own.map(({ foundAt }) => foundAt).toSorted()
    const counts = stepNames.map((state) => [state, own.filter((record) => record.state === state).length] as const)
    const accepted = own.filter(({ state }) => verdictOf(state) === 'accepted')
    const lost = own.filter(({ state }) => !['accepted', 'unconfirmed', null].includes(verdictOf(state)))
    const paid = accepted.filter(({ reward }) => reward !== null)
    const within = (days: number) => {
      return paidOf(
        paid.filter(({ foundAt }) => Date.parse(foundAt) > nowMs - days * DAY_MS),
        price,
      )
    }
    const settled = accepted.length + lost.length
    return {
      network,
      accounts: [...new Set(own.map(({ account }) => account))],
      firstFoundAt: times[0],
      lastFoundAt: times[times.length - 1],
      solutions: own.length,
      states: Object.fromEntries(counts.filter(([, count]) => count > 0)),
      paid: paidOf(paid, price),
      lastDay: within(1),
      lastWeek: within(WEEK_DAYS),
      lastMonth: within(MONTH_DAYS),
      unknownBlocks: accepted.length - paid.length,
      lostShare: settled === 0 ? null : lost.length / settled,
      currency: price?.currency ?? null,
    }
  })
}

function paidOf(records: readonly BlockRecord[], price: Price | undefined): Paid {
  const fees = exactSum(records.map((record) => record.fees ?? '0'))
  const coins = exactSum([...records.map(({ reward }) => reward ?? '0'), fees])
  return { blocks: records.length, coins, fees, value: price === undefined ? null : Number(coins) * price.amount }
}

/** Lines for people: a block of lines for each network. */
export function summaryLines(summaries: readonly NetworkSummary[], folder: string): string[] {
  if (summaries.length === 0) return [`no blocks in ${folder}`]
  return summaries.flatMap((summary, index) => [...(index === 0 ? [] : ['']), ...linesOf(summary)])
}

function linesOf(summary: NetworkSummary): string[] {
  const { network, accounts, firstFoundAt, lastFoundAt, states, currency, unknownBlocks, lostShare } = summary
  const counts = Object.entries(states).map(([state, count]) => `${count} ${state}`)
  const lost = lostShare === null ? [] : [`${Number((100 * lostShare).toFixed(1))} % lost`]
  const rows = [
    ['paid', summary.paid],
    ['last 24 h', summary.lastDay],
    ['last 7 days', summary.lastWeek],
    ['last 30 days', summary.lastMonth],
  ] as const
  const [blocks, coins] = [widthOf(rows.map(([, { blocks }]) => counted(blocks, 'block'))), widthOf(rows.map(coinsOf))]
  return [
    `${network}: ${counted(summary.solutions, 'solution')} from ${dayOf(firstFoundAt)} to ${dayOf(lastFoundAt)} (UTC)`,
    `  ${[...counts, ...lost].join(', ')}`,
    ...rows.map((row) => {
      const [name, { blocks: count, fees, value }] = row
      const worth = value === null || currency === null ? '' : `  ${moneyText(value, currency)}`
      const ofFees = fees === '0' ? '' : `  (${fees} of them fees)`
      const cells = [name.padEnd(LABEL), counted(count, 'block').padEnd(blocks), coinsOf(row).padStart(coins)]
      return `  ${cells.join('  ')}${worth}${ofFees}`
    }),
    ...(unknownBlocks === 0 ? [] : [`  the reward of ${counted(unknownBlocks, 'confirmed block')} is unknown`]),
    `  to ${accounts.join(', ')}`,
  ]
}

const LABEL = 'last 30 days'.length
const coinsOf = ([, { coins }]: readonly [string, Paid]) => `${coins} coins`
const widthOf = (texts: readonly string[]) => Math.max(...texts.map(({ length }) => length))
const dayOf = (at: string) => at.slice(0, 10)
