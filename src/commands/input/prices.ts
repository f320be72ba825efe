/** The prices of the options. */
import { NewcutError } from '#ground/base/errors.ts'
import type { Price, Prices } from '#mining/mine/profit.ts'

interface PriceValues {
  readonly 'coin-price'?: Price | undefined
  readonly 'power-price'?: Price | undefined
}

/** Throws NewcutError BAD_OPTION for prices in two currencies: newcut knows no exchange rate. */
export function pricesOf({ 'coin-price': coin, 'power-price': power }: PriceValues): Prices {
  if (coin !== undefined && power !== undefined && coin.currency !== power.currency) {
    const message = `--coin-price is in ${coin.currency} and --power-price in ${power.currency}`
    throw new NewcutError('BAD_OPTION', message, {
      hint: 'state both in one currency: newcut knows no exchange rate',
    })
  }
  return { coin, power }
}
