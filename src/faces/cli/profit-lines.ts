/** Lines of the console about income, cost and paid blocks. */
import { amountText, moneyText } from '#ground/base/money-text.ts'
import type { MinerEvent } from '#mining/mine/events.ts'
import type { EarningsSnapshot, MoneyParts, PaidSum, Payer, ProfitSnapshot } from '#mining/mine/profit.ts'
import { type ConsoleLine, countText, type Style } from './line.ts'

/** `2.304523 coins and 0.001 coins in fees` */
export function rewardText({ amount, fees }: Extract<MinerEvent, { readonly type: 'reward' }>): string {
  return fees === undefined || fees === '0' ? `${amount} coins` : `${amount} coins and ${fees} coins in fees`
}

/** The income sentence that the console prints at the start, in up to two lines. */
export function profitLines(profit: ProfitSnapshot): ConsoleLine[] {
  const [first, ...others] = profitTexts(profit)
  const style = styleOf(profit)
  return [{ label: (profit.profitPerDay ?? 0) < 0 ? 'loss' : 'profit', style, text: first }, ...others.map(dim)]
}

const dim = (text: string): ConsoleLine => ({ label: '', style: 'dim', text })

function styleOf({ profitPerDay }: ProfitSnapshot): Style {
  if (profitPerDay === null) return 'dim'
  return profitPerDay < 0 ? 'yellow' : 'green'
}

/**
 * `0.012 coins/day, 0.0002 USD, power 1.08 USD, loss 1.08 USD/day`, then
 * `breaks even at 90 USD a coin or 0.00007 USD/kWh`.
 */
function profitTexts(profit: ProfitSnapshot): [string, ...string[]] {
  const { coinsPerDay, currency, incomePerDay, powerCostPerDay, profitPerDay } = profit
  const money = (amount: number) => moneyText(amount, currency ?? '')
  const parts = [`${amountText(coinsPerDay)} coins/day${payerTexts[profit.payer]}`]
  if (incomePerDay !== null) parts.push(money(incomePerDay))
  if (powerCostPerDay !== null) parts.push(`power ${partial(profit)}${money(powerCostPerDay)}`)
  if (profitPerDay !== null) {
    parts.push(profitPerDay < 0 ? `loss ${partial(profit)}${money(-profitPerDay)}/day` : gainText(profit, money))
  }
  return [parts.join(', '), ...breakEvenTexts(profit), ...unknownTexts(profit)]
}

const payerTexts: Readonly<Record<Payer, string>> = {
  chain: '',
  pool: " before the pool's fee",
  leader: ' for the leader',
}

/** If the power of a device is unknown, the cost is a lower bound. */
const partial = ({ unreadDevices }: ProfitSnapshot) => (unreadDevices > 0 ? 'at least ' : '')

function gainText({ profitPerDay, unreadDevices }: ProfitSnapshot, money: (amount: number) => string): string {
  return `gain ${unreadDevices > 0 ? 'at most ' : ''}${money(profitPerDay ?? 0)}/day`
}

function breakEvenTexts({ currency, breakEvenCoinPrice, breakEvenPowerPrice }: ProfitSnapshot): string[] {
  if (currency === null) return []
  const prices = [
    ...(breakEvenCoinPrice === null ? [] : [`${moneyText(breakEvenCoinPrice, currency)} a coin`]),
    ...(breakEvenPowerPrice === null ? [] : [`${moneyText(breakEvenPowerPrice, currency)}/kWh`]),
  ]
  return prices.length === 0 ? [] : [`breaks even at ${prices.join(' or ')}`]
}

/** Names the gaps of the figures, if a price of power is stated, or if a pool pays. */
function unknownTexts(profit: ProfitSnapshot): string[] {
  const { currency, powerPrice, watts, unreadDevices, powerProblem, payer, hashrate } = profit
  if (currency === null) return []
  const texts: string[] = []
  const reason = powerProblem === null ? '' : `: ${powerProblem}`
  if (powerPrice !== null && watts === null) {
    const why = reason === '' ? ': no sensor reports the watts; --watts N states them' : reason
    texts.push(hashrate === 0 ? 'nothing searches now' : `the cost of power is unknown${why}`)
  } else if (watts !== null && unreadDevices > 0) {
    texts.push(`the power of ${countText(unreadDevices, 'device')} is unknown${reason}`)
  }
  if (payer === 'pool') texts.push('the pool decides what it pays; the figures are the mean of mining alone')
  return texts
}

/** The lines of the summary: expectation, and what was paid. No lines without prices. */
export function moneyTexts({ profit, earnings }: MoneyParts): string[] {
  if (profit === undefined || profit.currency === null) return []
  return [...profitTexts(profit), ...(earnings === undefined ? [] : paidTexts(earnings))]
}

/** The lines of the key `m`. */
export function moneyAnswer({ profit, earnings }: MoneyParts): [string, ...string[]] {
  const paid = earnings === undefined ? [] : paidTexts(earnings)
  if (profit === undefined) return ['the expected coins are unknown: there was no work yet', ...paid]
  const hint = profit.currency === null ? ['--coin-price and --power-price add income and cost'] : []
  return [...profitTexts(profit), ...paid, ...hint]
}

function paidTexts({ run, total, unknownBlocks, value, currency }: EarningsSnapshot): string[] {
  if (total.blocks + unknownBlocks === 0) return []
  const worth = value === null || currency === null ? '' : `, ${moneyText(value, currency)}`
  const isOnlyRun = run.blocks === total.blocks
  const unknown = unknownBlocks === 0 ? [] : [`the reward of ${countText(unknownBlocks, 'block')} is not known yet`]
  if (isOnlyRun) return [`paid: ${sumText(total)}${worth}`, ...unknown]
  return [`paid: ${sumText(run)} in this run, ${sumText(total)}${worth} in all`, ...unknown]
}

/** `11.5 coins for 5 blocks` */
const sumText = ({ blocks, coins }: PaidSum) => `${coins} coins for ${countText(blocks, 'block')}`

/** The part of the status line: the result of a day, or the parts of it that the known prices allow. */
export function profitPart({ profit }: MoneyParts): { readonly text: string; readonly style: Style }[] {
  if (profit === undefined || profit.currency === null) return []
  const { profitPerDay, incomePerDay, powerCostPerDay, currency } = profit
  const money = (amount: number) => `${moneyText(amount, currency)}/day`
  const part = (text: string) => [{ text, style: styleOf(profit) }]
  if (profitPerDay !== null)
    return part(profitPerDay < 0 ? `loss ${money(-profitPerDay)}` : `gain ${money(profitPerDay)}`)
  if (incomePerDay !== null) return part(`income ${money(incomePerDay)}`)
  return powerCostPerDay === null ? [] : part(`power ${money(powerCostPerDay)}`)
}
