/** Names of published keys (known-keys.ts). */
import { developmentAccounts } from '#ground/chain/development-accounts.ts'

/** The built-in miner of development networks. */
export const MINER_NAME = 'miner'

/** The names: `sender00` to `sender09`, which are funded, and `miner`, who is paid for blocks by default. */
export const knownKeyNames: readonly string[] = [...developmentAccounts.map(({ account }) => account), MINER_NAME]

/** Names of accounts of the phrase: `account0`, and so on. */
export const PHRASE_NAME = /^account(0|[1-9]\d{0,3})$/

export const isKnownName = (name: string): boolean => knownKeyNames.includes(name) || PHRASE_NAME.test(name)
