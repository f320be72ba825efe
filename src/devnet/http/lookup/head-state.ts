/** Reads the state at the head of a chain. On a copy of a network, it fetches what is missing. */
import type { Domain } from '#language/contracts/machine/state.ts'
import type { NodeCopy } from '../../copy/node-copy.ts'
import type { BlockState } from '../../ledger/block-state.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Chains } from '../../rules/chains.ts'
import { RequestRefused, unknownChain } from '../refusal.ts'

export interface StateSource {
  readonly chains: Chains
  readonly ledger: Ledger
  readonly fork: NodeCopy | null
}

/** Rows of accounts. */
export const ACCOUNTS: Domain = 'table:coin.coin-table'

/** @throws RequestRefused for a chain that is none, NewcutError if a forked node does not answer */
export function readHead<T>(
  { chains, ledger, fork }: StateSource,
  chain: number,
  run: (state: BlockState, height: number) => T,
): Promise<T> {
  if (chains.cut.get(chain) === undefined) {
    throw new RequestRefused(404, unknownChain(String(chain), chains.chainIds.length).message)
  }
  const now = async () => {
    const { state, context } = ledger.base(chain, 0)
    return run(state, Number(context.height) - 1)
  }
  return fork === null ? now() : fork.complete(now, [])
}
