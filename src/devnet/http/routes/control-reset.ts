/** Takes a node back to its start: chains, rules, pools, clock, and everything that control requests have set. */

import type { BlockMaker } from '../../control/block-maker.ts'
import type { AutoMining } from '../../control/mining.ts'
import type { NamedSnapshots } from '../../control/snapshots.ts'
import { defaultTerms } from '../../mempool/gas-terms.ts'
import type { Faults } from '../faults.ts'
import { type StreamGate, streamKinds } from '../stream/stream-gate.ts'

interface ResetParts {
  readonly maker: BlockMaker
  readonly snapshots: NamedSnapshots
  readonly mining: AutoMining
  readonly faults: Faults
  readonly streams: StreamGate
}

/** Resets the network. Snapshots are gone afterwards. */
export function resetNetwork({ maker, snapshots, mining, faults, streams }: ResetParts): void {
  const { coordinator } = maker
  const { pools } = coordinator
  faults.clear()
  streams.resume(streamKinds)
  pools.impersonation.reset()
  pools.gas = defaultTerms(maker.chains.network)
  snapshots.reset()
  for (const chain of [...coordinator.paused]) coordinator.resume(chain)
  mining.reset()
}
