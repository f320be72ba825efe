/** The sums of `newcut blocks --summary`: counts and coins of a journal, for each network. */

import { countText } from '#faces/cli/line.ts'
import { exactText } from '#ground/base/coins.ts'
import { moneyText } from '#ground/base/money-text.ts'
import { isLostVerdict, type StepName, stepNames, verdictOf } from '#ground/chain/solution.ts'
import { CoinTotal } from '#mining/journal/coin-total.ts'
import type { JournalContent } from '#mining/journal/content.ts'
import { NO_AMOUNT } from '#mining/journal/record-table.ts'
import type { Price } from '#mining/mine/profit.ts'

/** Paid blocks of a span of time. */
interface PaymentOutcome {
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
  readonly paid: PaymentOutcome
  readonly lastDay: PaymentOutcome
  readonly lastWeek: PaymentOutcome
  readonly lastMonth: PaymentOutcome
  /** Blocks in their chains whose reward is unknown. */
  readonly unknownBlocks: number
  /** Settled solutions that are not in their chains, as a share of all settled ones; null if none is settled. */
  readonly lostShare: number | null
  readonly currency: string | null
}

const DAY_MS = 86_400_000
/** Days of the last day, week and month. */
const SPANS = [1, 7, 30]

/** A journal, as far as sums need it. */
export type SummedJournal = Pick<JournalContent, 'table' | 'records'>

/**
 * Sums up this row and all later ones.
 * @param nowMs end of the last day, week and month, Unix time
 * @throws NewcutError BAD_INPUT if a line cannot be read
 */
export function summariesOf(journal: SummedJournal, first: number, nowMs: number, price?: Price): NetworkSummary[] {
  const { table } = journal
  const counters = new Map<string, NetworkCounter>()
  /** The counter of each origin that has rows. */
  const ofOrigins: NetworkCounter[] = []
  for (let row = first; row < table.rows; row++) {
    const origin = table.originOf(row)
    if (ofOrigins[origin] === undefined) {
      const { network, account } = table.origins[origin]
      const counter = counters.get(network) ?? new NetworkCounter(journal, network, nowMs, row)
      counters.set(network, counter)
      counter.accounts.push(account)
      ofOrigins[origin] = counter
    }
    ofOrigins[origin].add(row)
  }
  return [...counters.values()].map((counter) => counter.summary(price))
}

class NetworkCounter {
  readonly accounts: string[] = []
  readonly #journal: SummedJournal
  readonly #network: string
  readonly #states = new Map<StepName, number>()
  readonly #paid = new CoinTotal()
  readonly #spans: readonly { readonly sinceMs: number; readonly paid: CoinTotal }[]
  #first: number
  #last: number
  #accepted = 0
  #lost = 0

  /** @param row the first row of the network */
  constructor(journal: SummedJournal, network: string, nowMs: number, row: number) {
    this.#journal = journal
    this.#network = network
    this.#spans = SPANS.map((days) => ({ sinceMs: nowMs - days * DAY_MS, paid: new CoinTotal() }))
    this.#first = row
    this.#last = row
  }

  add(row: number): void {
    const { table } = this.#journal
    const [state, foundMs] = [table.stateOf(row), table.foundMsOf(row)]
    this.#states.set(state, (this.#states.get(state) ?? 0) + 1)
    if (foundMs < table.foundMsOf(this.#first)) this.#first = row
    if (foundMs > table.foundMsOf(this.#last)) this.#last = row
    const verdict = verdictOf(state)
    if (isLostVerdict(verdict)) this.#lost++
    if (verdict !== 'accepted') return
    this.#accepted++
    if (table.rewardOf(row) === NO_AMOUNT) return
    this.#paid.add(table, row)
    for (const { sinceMs, paid } of this.#spans) if (foundMs > sinceMs) paid.add(table, row)
  }

  summary(price: Price | undefined): NetworkSummary {
    const { records } = this.#journal
    const [lastDay, lastWeek, lastMonth] = this.#spans.map(({ paid }) => paidOf(paid, records, price))
    const counts = stepNames.flatMap((state) => {
      const count = this.#states.get(state)
      return count === undefined ? [] : [[state, count] as const]
    })
    const settled = this.#accepted + this.#lost
    return {
      network: this.#network,
      accounts: this.accounts,
      firstFoundAt: foundAtOf(this.#journal, this.#first),
      lastFoundAt: foundAtOf(this.#journal, this.#last),
      solutions: counts.reduce((sum, [, count]) => sum + count, 0),
      states: Object.fromEntries(counts),
      paid: paidOf(this.#paid, records, price),
      lastDay,
      lastWeek,
      lastMonth,
      unknownBlocks: this.#accepted - this.#paid.blocks,
      lostShare: settled === 0 ? null : this.#lost / settled,
      currency: price?.currency ?? null,
    }
  }
}

function foundAtOf({ records }: SummedJournal, row: number): string {
  const [{ foundAt }] = [...records([row])]
  return foundAt
}

function paidOf(total: CoinTotal, records: JournalContent['records'], price: Price | undefined): PaymentOutcome {
  const { rewards, fees } = total.coins(records)
  const coins = exactText(rewards + fees)
  const value = price === undefined ? null : Number(coins) * price.amount
  return { blocks: total.blocks, coins, fees: exactText(fees), value }
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
  const [blocks, coins] = [
    widthOf(rows.map(([, { blocks }]) => countText(blocks, 'block'))),
    widthOf(rows.map(coinsOf)),
  ]
  return [
    `${network}: ${countText(summary.solutions, 'solution')} from ${dayOf(firstFoundAt)} to ${dayOf(lastFoundAt)} (UTC)`,
    `  ${[...counts, ...lost].join(', ')}`,
    ...rows.map((row) => {
      const [name, { blocks: count, fees, value }] = row
      const worth = value === null || currency === null ? '' : `  ${moneyText(value, currency)}`
      const ofFees = fees === '0' ? '' : `  (${fees} of them fees)`
      const cells = [name.padEnd(LABEL), countText(count, 'block').padEnd(blocks), coinsOf(row).padStart(coins)]
      return `  ${cells.join('  ')}${worth}${ofFees}`
    }),
    ...(unknownBlocks === 0 ? [] : [`  the reward of ${countText(unknownBlocks, 'confirmed block')} is unknown`]),
    `  to ${accounts.join(', ')}`,
  ]
}

const LABEL = 'last 30 days'.length
const coinsOf = ([, { coins }]: readonly [string, PaymentOutcome]) => `${coins} coins`
const widthOf = (texts: readonly string[]) => Math.max(...texts.map(({ length }) => length))
const dayOf = (at: string) => at.slice(0, 10)
