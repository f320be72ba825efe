/** Options of the commands that talk to contracts. */
import { developmentAccounts } from '../../core/development-accounts.ts'
import { duration, firstNodeUrl, gasPrice, likely, someText, texts, wholeNumber, yesNo } from '../values.ts'
import { mineOptions } from './mine.ts'
import { flagOnly, option, unset } from './row.ts'

/** The node that a command asks, and how it is trusted. */
export const nodeOptions = {
  node: option(firstNodeUrl, 'http://127.0.0.1:1848', 'URL', 'node to ask', { plural: 'nodes' }),
  insecure: mineOptions.insecure,
  ca: mineOptions.ca,
  fingerprint: mineOptions.fingerprint,
}

/** Most chains that a network can have by its number of chains. */
const MAX_CHAIN = 9999
const chainOption = flagOnly(option(wholeNumber(0, MAX_CHAIN), 0, 'N', 'chain'))
const jsonOption = flagOnly(option(yesNo, false, null, 'as JSON'))
const dataOption = flagOnly(unset(someText, 'JSON', 'data that the code reads: JSON, or @FILE for a file with it'))
const knownKeys = [...developmentAccounts.map(({ account }) => account), 'miner']
export const keyOption = unset(
  likely(knownKeys, texts),
  'FILE',
  'key that signs: a file that keygen wrote; on development networks also sender00 to sender09 and miner; may be repeated',
)

/** Gas and lifetime of a command. */
export const gasOptions = {
  'gas-limit': option(wholeNumber(1, 1e9), 2500, 'N', 'most units of gas'),
  'gas-price': option(gasPrice, '0.00000001', 'COINS', 'coins for a unit of gas'),
  ttl: option(duration(1000), 900_000, 'TIME', 'how long blocks may take the command; the longest wait for it'),
}

const depthOption = flagOnly(
  option(wholeNumber(0, 1e6), 0, 'N', 'wait until N blocks stand on that of the command', { needs: ['waiting'] }),
)

/** Options of `newcut local`. */
export const localOptions = {
  chain: chainOption,
  ...nodeOptions,
  data: dataOption,
  'gas-limit': option(wholeNumber(1, 1e9), 150_000, 'N', 'most units of gas'),
  sender: flagOnly(unset(someText, 'ACCOUNT', 'account that the code sees as the payer of gas; none if not given')),
  rewind: flagOnly(option(wholeNumber(0, 1e9), 0, 'N', 'ask of N blocks below the head')),
  json: jsonOption,
}

/** Options of `newcut balance`. */
export const balanceOptions = {
  ...nodeOptions,
  'public-key': mineOptions['public-key'],
  account: mineOptions.account,
  watch: flagOnly(option(yesNo, false, null, 'go on, and show what changes')),
  json: jsonOption,
}

/** Options of `newcut send`. */
export const sendOptions = {
  chain: chainOption,
  ...nodeOptions,
  key: keyOption,
  data: dataOption,
  cap: flagOnly(
    unset(
      texts,
      'CAP',
      "a capability that the keys sign, such as '(coin.GAS)'; may be repeated; default: everything in the command",
    ),
  ),
  sender: flagOnly(unset(someText, 'ACCOUNT', 'account that pays for gas; that of the first key if not given')),
  ...gasOptions,
  preflight: flagOnly(option(yesNo, true, null, 'do not try the command on the node before it is sent')),
  wait: flagOnly(option(yesNo, true, null, 'do not wait for the result')),
  depth: depthOption,
  json: jsonOption,
}

/** Options of `newcut transfer`. */
export const transferOptions = {
  chain: chainOption,
  'to-chain': flagOnly(unset(wholeNumber(0, MAX_CHAIN), 'N', 'chain of the receiver; the same if not given')),
  ...nodeOptions,
  key: keyOption,
  'receiver-keyset': flagOnly(
    unset(someText, 'JSON', 'who guards a receiver that does not exist yet and is no k: account: JSON, or @FILE'),
  ),
  'gas-payer': flagOnly(
    unset(someText, 'ACCOUNT', 'account that pays for gas on the chain of the receiver; the sender if not given'),
  ),
  continue: flagOnly(unset(someText, 'KEY', 'go on with the transfer to another chain that has this request key')),
  ...gasOptions,
  depth: depthOption,
  json: jsonOption,
}

/** Options of `newcut result`. */
export const resultOptions = {
  chain: flagOnly(unset(wholeNumber(0, MAX_CHAIN), 'N', 'chain of the command; all are asked if not given')),
  ...nodeOptions,
  wait: flagOnly(option(yesNo, true, null, 'do not wait for the result')),
  depth: depthOption,
  json: jsonOption,
}
