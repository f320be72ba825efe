/** The prices of the options. */
import { operatingError } from '#ground/base/errors.ts'
import type { Price, Prices } from '#mining/mine/profit.ts'
import { commandErrors } from './errors.ts'

interface PriceValues {
  readonly 'coin-price'?: Price | undefined
  readonly 'power-price'?: Price | undefined
}

/** @throws NewcutError BAD_OPTION for prices in two currencies: newcut knows no exchange rate */
export function pricesOf({ 'coin-price': coin, 'power-price': power }: PriceValues): Prices {
  if (coin !== undefined && power !== undefined && coin.currency !== power.currency) {
    throw operatingError(commandErrors.currencies, { coin: coin.currency, power: power.currency })
  }
  return { coin, power }
}
