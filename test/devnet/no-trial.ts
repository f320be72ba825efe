import type { DryRun } from '../../src/devnet/mempool/mempools.ts'

/** For pools without a ledger: every command passes. */
export const noTrial: DryRun = {
  tryNow: () => null,
  tryLater: async () => null,
  verifySignatures: async () => null,
  pactFault: () => null,
}
