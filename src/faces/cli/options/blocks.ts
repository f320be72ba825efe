/** Options of `newcut blocks`. */
import { coinPrice } from '../price.ts'
import { someText, wholeNumber, yesNo } from '../values.ts'
import { flagOnly, option, optional } from './row.ts'

export const blocksOptions = {
  state: optional(someText, 'DIR', 'journal folder of the miner', {
    more: 'If not set, newcut reads the state folder of the user.',
  }),
  last: flagOnly(option(wholeNumber(0, 1e9), 0, 'N', 'only the newest N blocks; 0 for all')),
  summary: flagOnly(
    option(yesNo, false, null, 'print counts and coins of each network', {
      more: 'The sums are of all time, and of the last 24 hours, 7 days and 30 days.',
    }),
  ),
  'coin-price': optional(coinPrice, 'PRICE', 'price of a coin, such as 0.02USD', {
    needs: ['summary'],
    more: 'With --summary: newcut shows what the coins are worth. It fetches no prices.',
  }),
  json: flagOnly(
    option(yesNo, false, null, 'print a JSON object for each block, or each network', { needs: ['noCsv'] }),
  ),
  csv: flagOnly(option(yesNo, false, null, 'print comma-separated values', { needs: ['noSummary'] })),
}
