/** Options of `newcut blocks`. */
import { someText, wholeNumber, yesNo } from '../values.ts'
import { flagOnly, option, unset } from './row.ts'

export const blocksOptions = {
  state: unset(someText, 'DIR', 'folder of the journal; the usual one of the user if not given'),
  last: flagOnly(option(wholeNumber(0, 1e9), 0, 'N', 'the newest N only; 0 for all')),
  json: flagOnly(option(yesNo, false, null, 'a JSON object for each')),
  csv: flagOnly(option(yesNo, false, null, 'as comma-separated values')),
}
