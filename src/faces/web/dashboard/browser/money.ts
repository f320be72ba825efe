/** Shows the coins that the chain paid, and the expected income and cost of a day. */
import { amountText, moneyText } from '#ground/base/money-text.ts'
import { element, write } from '../../kit/dom.ts'
import { briefCoins, groupDigits } from '../../kit/numbers.ts'
import type { MoneyParts } from '../state.ts'

export class MoneyPanel {
  show(shown: MoneyParts): void {
    const { profit, earnings } = shown
    const currency = profit?.currency ?? ''
    const money = (amount: number | null | undefined) => (amount == null ? null : moneyText(amount, currency))
    row('paid-blocks', earnings === undefined ? null : groupDigits(earnings.total.blocks))
    row('paid-coins', earnings === undefined ? null : briefCoins(earnings.total.coins))
    row('paid-value', earnings?.value == null ? null : moneyText(earnings.value, earnings.currency ?? ''))
    row('coins-day', profit === undefined ? null : amountText(profit.coinsPerDay))
    row('income-day', money(profit?.incomePerDay))
    row('power-day', money(profit?.powerCostPerDay))
    row('profit-day', money(profit?.profitPerDay))
    row('break-even', breakEvenText(profit))
    row('money-note', noteText(profit))
    element('profit-day').toggleAttribute('data-loss', (profit?.profitPerDay ?? 0) < 0)
    element('money').hidden = profit === undefined && earnings === undefined
  }
}

/** Writes a value, and hides its row without one. */
function row(id: string, text: string | null): void {
  write(id, text ?? '')
  const parent = element(id).parentElement
  if (parent !== null) parent.hidden = text === null
}

function breakEvenText(profit: MoneyParts['profit']): string | null {
  if (profit === undefined || profit.currency === null) return null
  const { breakEvenCoinPrice: coin, breakEvenPowerPrice: power, currency } = profit
  const prices = [
    ...(coin === null ? [] : [`${moneyText(coin, currency)} a coin`]),
    ...(power === null ? [] : [`${moneyText(power, currency)}/kWh`]),
  ]
  return prices.length === 0 ? null : prices.join(' or ')
}

/** Names the gaps of the figures. */
function noteText(profit: MoneyParts['profit']): string | null {
  if (profit === undefined) return null
  const { payer, powerPrice, watts, unreadDevices } = profit
  const notes = [
    ...(payer === 'pool' ? ["before the pool's fee"] : []),
    ...(payer === 'leader' ? ['for the account of the leader'] : []),
    ...(powerPrice !== null && watts === null ? ['the cost of power is unknown'] : []),
    ...(watts !== null && unreadDevices > 0 ? ['the power of some devices is unknown'] : []),
  ]
  return notes.length === 0 ? null : notes.join('; ')
}
