/** Options of commands that have few. */
import { someText, yesNo } from '../values.ts'
import { oneNetworkFile } from './node.ts'
import { flagOnly, option, optional, outputFile } from './row.ts'

/** Options of `newcut keygen`. */
export const keygenOptions = {
  json: flagOnly(option(yesNo, false, null, 'print JSON: with FILE, the public key and the path')),
}

/** Options of `newcut devices`. */
export const devicesOptions = {
  json: flagOnly(option(yesNo, false, null, 'print JSON')),
  measure: flagOnly(option(yesNo, false, null, 'measure the hashrate of each, for two seconds')),
}

/** Options of `newcut init`: none besides those of all commands. */
export const initOptions = {}

/** Options of `newcut rigs`. */
export const rigsOptions = {
  json: flagOnly(option(yesNo, false, null, 'print JSON')),
  wide: flagOnly(
    option(yesNo, false, null, 'show all columns', {
      more: 'They need about 180 characters. Without it, 100 are enough.',
    }),
  ),
}

/** Options of `newcut bench`. */
export const benchOptions = {
  json: outputFile('write the report as JSON to FILE'),
  compare: flagOnly(
    optional(someText, 'FILE', 'compare with an earlier report', {
      more: 'The exit code is 1 if something got worse.',
    }),
  ),
  quick: flagOnly(
    option(yesNo, false, null, 'smoke test that takes seconds, not minutes', {
      more: 'It checks that everything works, not how fast it is.',
    }),
  ),
  rigs: flagOnly(
    optional(someText, 'NAME:COUNT,...', 'stratum: models of rigs to simulate', {
      more: 'The report has the useful part of their hashrate.',
    }),
  ),
}

/** Options of `newcut format`. */
export const formatOptions = {
  check: flagOnly(
    option(yesNo, false, null, 'change nothing, and list the files that would change', {
      more: 'The exit code is 1 if there are any.',
    }),
  ),
}

/** Options of `newcut inspect`. */
export const inspectOptions = {
  'network-file': {
    ...oneNetworkFile,
    help: 'file that describes the network of the records',
    more: 'Headers get its name, and brokenRules lists its rules that they break, as far as one header shows them.',
  },
}
