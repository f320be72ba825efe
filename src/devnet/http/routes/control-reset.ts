/** Takes a node back to its start: chains, rules, pools, clock, and everything that orders have set. */
import { USUAL_TERMS } from '../../mempool/gas-terms.ts'
import { streamKinds } from '../stream/stream-gate.ts'
import type { ControlOptions } from './control.ts'

/** Resets the network. Snapshots are gone afterwards. */
export function resetNetwork({ maker, snapshots, mining, faults, streams }: ControlOptions): void {
  const { coordinator } = maker
  const { pools } = coordinator
  faults.clear()
  streams.resume(streamKinds)
  pools.impersonation.reset()
  pools.gas = USUAL_TERMS
  snapshots.reset()
  for (const chain of [...coordinator.paused]) coordinator.resume(chain)
  mining.reset()
}
