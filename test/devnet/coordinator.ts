/** A coordinator without HTTP around it, for tests of what works on top of one. */
import type { Chains } from '../../src/devnet/chains.ts'
import { Coordinator, type CoordinatorOptions } from '../../src/devnet/coordinator.ts'
import { Mempools } from '../../src/devnet/mempools.ts'
import { MemoryTransactionIndex } from '../../src/devnet/transaction-index.ts'

export function coordinatorOf(
  chains: Chains,
  { random, nowMs }: Pick<CoordinatorOptions, 'random' | 'nowMs'>,
): Coordinator {
  const pools = new Mempools({ chains, index: new MemoryTransactionIndex(), nowMs })
  const limits = { accounts: null, payloadLimit: 10, payloadLifetimeMs: 1000, refreshMs: 1000 }
  return new Coordinator(chains, { ...limits, pools, random, nowMs })
}
