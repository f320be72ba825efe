/** Options of `newcut blocks`. */
import { someText, wholeNumber, yesNo } from '../values.ts'
import { flagOnly, option, unset } from './row.ts'

export const blocksOptions = {
  state: unset(someText, 'DIR', 'journal folder of the miner', {
    more: 'If not set, newcut reads the state folder of the user.',
  }),
  last: flagOnly(option(wholeNumber(0, 1e9), 0, 'N', 'only the newest N blocks; 0 for all')),
  json: flagOnly(option(yesNo, false, null, 'print a JSON object for each block')),
  csv: flagOnly(option(yesNo, false, null, 'print comma-separated values')),
}
