/** Chains inside the process, with or without a ledger, and payloads for them. */

import { genesisOf } from '../../src/devnet/ledger/genesis.ts'
import type { Ledger } from '../../src/devnet/ledger/ledger.ts'
import { Chains, genesisState } from '../../src/devnet/rules/chains.ts'
import { type NetworkSettings, networkOf } from '../../src/devnet/rules/settings.ts'
import type { StoredPayload } from '../../src/devnet/store/payload.ts'
import { indexBlock, MemoryTransactionIndex } from '../../src/devnet/store/transaction-index.ts'
import type { Header } from '../../src/ground/chain/header.ts'
import { graphAt } from '../../src/ground/chain/network.ts'
import { type MinerAccount, payloadHashes } from '../../src/ground/chain/payload.ts'
import { blockPayload } from './block-payload.ts'
import type { Signed } from './command.ts'
import { ledgerOf } from './ledger.ts'
import { inPayload } from './read-command.ts'

/** Chains and the ledger that executes their blocks, if there is one. */
export interface Ground {
  readonly chains: Chains
  readonly ledger?: Ledger
}

/** Chains that execute, as in a node but without HTTP. */
export function executingChains(settings: NetworkSettings, now: () => bigint): Required<Ground> {
  const network = networkOf(settings)
  const state = genesisState(network, () => genesisOf(graphAt(network, 0).adjacents.length).payload)
  const index = new MemoryTransactionIndex()
  const ledger = ledgerOf(state, index)
  const chains = new Chains({ network, checkPow: false, now, state, executions: ledger })
  chains.onBlock((block) => indexBlock(index, block))
  return { chains, ledger }
}

/** The payload of a block on top of `parent` with these commands. Throws if a command does not fit into it. */
export function payloadOn(
  { ledger }: Ground,
  parent: Header,
  miner: MinerAccount,
  commands: readonly Signed[] = [],
): StoredPayload {
  if (ledger === undefined) {
    const transactions = commands.map((command) => {
      return { transaction: inPayload(command).bytes, output: Buffer.from('{}') }
    })
    const parts = { ...blockPayload(miner, parent), transactions }
    return { ...parts, ...payloadHashes(parts) }
  }
  const draft = ledger.begin(parent, miner)
  for (const command of commands) {
    const added = draft.add(inPayload(command))
    if (added !== 'added') throw new Error(`${command.hash}: ${JSON.stringify(added)}`)
  }
  return ledger.payloadOf(draft, parent)
}
