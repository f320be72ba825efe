/** Metrics of income and cost: what the chain paid, and what a day is expected to bring in. */

import type { Snapshot } from '#mining/mine/snapshot.ts'
import { Gauge, type Registry } from './prom-client.ts'

/** Metrics without a label. */
const PLAIN = {
  newcut_paid_blocks:
    'Own blocks in their chains with a known reward. All runs on this network in the journal count. Absent if a pool or a leader is paid.',
  newcut_unknown_reward_blocks:
    'Own blocks in their chains whose reward newcut does not know. More than a few: see `coin.payment` of `--network-file`.',
  newcut_paid_coins: 'Rewards and fees of these blocks.',
  newcut_paid_fee_coins: 'The part of `newcut_paid_coins` that transactions paid.',
  newcut_coins_per_day:
    "Expected coins of 24 hours at the current hashrate and difficulty, before a pool's fee. Absent until there was work.",
} as const

/** Metrics with the currency as their label. */
const MONEY = {
  newcut_paid_value: '`newcut_paid_coins` at `--coin-price`. Absent without it.',
  newcut_income_per_day: '`newcut_coins_per_day` at `--coin-price`. Absent without it.',
  newcut_power_cost_per_day:
    'Cost of 24 hours of the current power at `--power-price`. Absent without it, and if the power is unknown.',
  newcut_profit_per_day: 'Income less power cost of 24 hours, negative for a loss. Absent if one of them is.',
  newcut_break_even_coin_price: 'Price of a coin at which income equals power cost.',
  newcut_break_even_power_price: 'Price of a kilowatt hour at which power cost equals income.',
} as const

type Values<Table> = { readonly [Name in keyof Table]: number | null | undefined }

export class MoneyMetrics {
  readonly #plain = new Map<string, Gauge<never>>()
  readonly #money = new Map<string, Gauge<'currency'>>()

  constructor(registry: Registry) {
    const registers = [registry]
    for (const [name, help] of Object.entries(PLAIN)) this.#plain.set(name, new Gauge({ name, help, registers }))
    for (const [name, help] of Object.entries(MONEY)) {
      this.#money.set(name, new Gauge({ name, help, labelNames: ['currency'] as const, registers }))
    }
  }

  /** Shows what is known, and removes what is not. */
  show({ profit, earnings }: Pick<Snapshot, 'profit' | 'earnings'>): void {
    const plain: Values<typeof PLAIN> = {
      newcut_paid_blocks: earnings?.total.blocks,
      newcut_unknown_reward_blocks: earnings?.unknownBlocks,
      newcut_paid_coins: earnings && Number(earnings.total.coins),
      newcut_paid_fee_coins: earnings && Number(earnings.total.fees),
      newcut_coins_per_day: profit?.coinsPerDay,
    }
    const money: Values<typeof MONEY> = {
      newcut_paid_value: earnings?.value,
      newcut_income_per_day: profit?.incomePerDay,
      newcut_power_cost_per_day: profit?.powerCostPerDay,
      newcut_profit_per_day: profit?.profitPerDay,
      newcut_break_even_coin_price: profit?.breakEvenCoinPrice,
      newcut_break_even_power_price: profit?.breakEvenPowerPrice,
    }
    const currency = profit?.currency ?? earnings?.currency ?? ''
    for (const [name, value] of Object.entries(plain)) {
      const metric = this.#plain.get(name)
      if (value == null) metric?.remove()
      else metric?.set(value)
    }
    for (const [name, value] of Object.entries(money)) {
      const metric = this.#money.get(name)
      // The user may state another currency while the miner runs.
      metric?.reset()
      if (value != null) metric?.set({ currency }, value)
    }
  }
}
