/** A ledger without HTTP, for tests of its users. */

import { Ledger } from '../../src/devnet/ledger/ledger.ts'
import { MemoryVersions, type Versions } from '../../src/devnet/ledger/versions.ts'
import type { ChainState } from '../../src/devnet/rules/journal.ts'
import { type NetworkRules, rulesFor } from '../../src/devnet/rules/network-rules.ts'
import { MemoryTransactionIndex, type TransactionIndex } from '../../src/devnet/store/transaction-index.ts'
import { development } from '../../src/ground/chain/network-data.ts'

/** A ledger of these chains that knows the state of every genesis block. */
export function ledgerOf(
  { store, heads }: Pick<ChainState, 'store' | 'heads'>,
  index: TransactionIndex = new MemoryTransactionIndex(),
  versions: Versions = new MemoryVersions(),
  rules: NetworkRules = rulesFor(development, '3.2'),
): Ledger {
  return new Ledger({
    store,
    heads: heads.values(),
    index,
    versions,
    rules,
    check: () => null,
  })
}
