/** Prices that the user states, for commands that show income and cost. */
import { coinPrice, powerPrice } from '../price.ts'
import { changeable, optional } from './row.ts'

export const priceOptions = {
  'coin-price': optional(coinPrice, 'PRICE', 'price of a coin, such as 0.02USD', {
    group: 'profit',
    more: 'newcut shows the expected income of a day, and what the paid blocks are worth. It fetches no prices.',
    ...changeable,
  }),
  'power-price': optional(powerPrice, 'PRICE', 'price of a kilowatt hour, such as 0.30USD/kWh', {
    group: 'profit',
    more: 'newcut shows the cost of a day, and the price of a coin at which mining breaks even.',
    ...changeable,
  }),
}
