/** Shows a pool's payouts on its miner: reads the journal that `newcut payouts` writes into the miner's folder. */
import type { ReadPayouts } from '#faces/api/pool-payments.ts'
import { describeError, NewcutError } from '#ground/base/errors.ts'
import type { MinerEvent } from '#mining/mine/events.ts'
import { isDevelopment } from './payee.ts'
import type { MinerSetup } from './setup.ts'

/** @returns the folder that `newcut payouts` uses with the same options, or null if the miner keeps no state */
export function payoutFolder(source: MinerSetup['source'], network: string): string | null {
  const state = 'state' in source ? (source.state ?? null) : null
  if (state === null) return null
  // Fleets and development networks have another default folder, or none.
  const isUsual = source.kind !== 'fleet' && !isDevelopment(network)
  return state.isRequired || isUsual ? state.folder : null
}

/** @returns a reader of the payout totals. It reports a read failure once, and once the recovery. */
export async function payoutReader(
  folder: string,
  pool: { readonly network: string; readonly account: string },
  onEvent: (event: MinerEvent) => void,
): Promise<ReadPayouts> {
  const { PayoutTotalsReader } = await import('#pool/payouts/payout-totals.ts')
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
