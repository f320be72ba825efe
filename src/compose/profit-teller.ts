/** Says once for the stated prices what mining brings in and costs. */
import type { MinerEvent } from '../mine/events.ts'

/**
 * Returns a listener for the miner's events. It reports the profit with the first `speed` event, when the hashrate is
 * known, and again after a change of prices. Without prices it reports nothing.
 */
export function profitTeller(show: (event: MinerEvent) => void): (event: MinerEvent) => void {
  let told: string | null = null
  return (event) => {
    if (event.type !== 'speed') return
    const { profit, hashrates } = event.snapshot
    if (profit === undefined || profit.currency === null || !hashrates['10s']) return
    const prices = `${profit.coinPrice} ${profit.powerPrice} ${profit.currency}`
    if (prices === told) return
    told = prices
    show({ type: 'profit', profit })
  }
}
