import type { Trial } from '../../src/devnet/mempool/mempools.ts'

/** For pools without a ledger: every command passes. */
export const noTrial: Trial = {
  now: () => null,
  later: async () => null,
  signatures: async () => null,
  pactFault: () => null,
}
