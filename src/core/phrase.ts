/** The phrase of development networks, and its accounts. phrase-keys.ts derives their keys. */

/** The phrase of development networks. Everybody knows it, so its keys are worthless elsewhere. */
export const DEVELOPMENT_PHRASE = 'test test test test test test test test test test test junk'
/** Most accounts of the phrase. */
export const MAX_PHRASE_ACCOUNTS = 1000
/** Coins that each of them gets on each chain. */
export const PHRASE_COINS = 10_000

/** Path of a key, for people. */
export const phrasePath = (index: number | 'i') => `m/44'/626'/${index}'`
