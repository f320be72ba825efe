/** A coordinator without HTTP, for tests of its users. */

import { Mempools } from '../../src/devnet/mempool/mempools.ts'
import type { Chains } from '../../src/devnet/rules/chains.ts'
import { rulesFor } from '../../src/devnet/rules/network-rules.ts'
import { MemoryTransactionIndex } from '../../src/devnet/store/transaction-index.ts'
import { TimeSlicer } from '../../src/devnet/time-slicer.ts'
import { Coordinator, type CoordinatorOptions } from '../../src/devnet/work/coordinator.ts'
import { ledgerOf } from './ledger.ts'
import { noTrial } from './no-trial.ts'

export function coordinatorOf(
  chains: Chains,
  { random, nowMs, clock }: Pick<CoordinatorOptions, 'random' | 'nowMs' | 'clock'>,
): Coordinator {
  const turns = new TimeSlicer()
  const rules = rulesFor(chains.network, '3.2')
  const pools = new Mempools({ chains, index: new MemoryTransactionIndex(), nowMs, trial: noTrial, turns, rules })
  const limits = { accounts: null, payloadLimit: 10, payloadLifetimeMs: 1000, refreshMs: 1000 }
  return new Coordinator(chains, { ...limits, pools, turns, ledger: ledgerOf(chains.state), random, nowMs, clock })
}
