/** Shared by the programs: accounts, and calls whose errors are printed. */
import { setTimeout as sleep } from 'node:timers/promises'
import { developmentAccounts } from '../../../dist/src/ground/chain/development-accounts.js'

/** Address of the server. */
export const [, , host] = process.argv
export const [sender, other] = developmentAccounts
/** A call without an end after this time has none. The slowest polls once in 5 s, some ten times. */
const PATIENCE_MS = 120_000
/** A library without polls needs less. */
export const SHORT_PATIENCE_MS = 20_000

/** Pause of a program whose call has failed. */
const PAUSE_MS = 1000

/**
 * The result of a call, or undefined if it fails. Then a line has the call and its error, as an application would, and
 * the program pauses.
 */
export async function attempt(name, call, patienceMs = PATIENCE_MS) {
  let timer
  const patience = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('(no end)')), patienceMs)
  })
  try {
    return await Promise.race([call(), patience])
  } catch (error) {
    console.log(JSON.stringify({ name, error: String(error?.message ?? error) }))
    await sleep(PAUSE_MS)
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

/** An amount that no other round has, so that each is a transfer of its own. */
export const amountOf = (round) => `${round + 1}.5`
