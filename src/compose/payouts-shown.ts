/** What a miner shows of the payouts of its pool: the journal in its folder, which `newcut payouts` writes. */
import type { ReadPayouts } from '../api/pool-payments.ts'
import { describeError, NewcutError } from '../core/errors.ts'
import type { MinerEvent } from '../mine/events.ts'
import { isDevelopment } from './payee.ts'
import type { MinerSetup } from './setup.ts'

/** The folder where `newcut payouts` has its journal if it is given the same options. null: the miner keeps nothing. */
export function payoutFolder(source: MinerSetup['source'], network: string): string | null {
  const state = 'state' in source ? (source.state ?? null) : null
  if (state === null) return null
  // Fleets and development networks have other folders by default, or none.
  const isUsual = source.kind !== 'fleet' && !isDevelopment(network)
  return state.isRequired || isUsual ? state.folder : null
}

/** Tells once that the journal cannot be read, and once that it can be again. */
export async function payoutsIn(
  folder: string,
  pool: { readonly network: string; readonly account: string },
  onEvent: (event: MinerEvent) => void,
): Promise<ReadPayouts> {
  const { PayoutTotalsReader } = await import('../payouts/payout-totals.ts')
  const reader = new PayoutTotalsReader(folder, pool)
  let isWell = true
  return async () => {
    try {
      const totals = await reader.totals()
      if (!isWell) onEvent({ type: 'recovered', message: 'the journal of payouts can be read again' })
      isWell = true
      return totals
    } catch (error) {
      if (!(error instanceof NewcutError)) throw error
      if (isWell) onEvent({ type: 'trouble', message: `${describeError(error)}; payments are not served` })
      isWell = false
      return null
    }
  }
}
