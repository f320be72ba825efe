/** Fetches at the start what the next block of every chain reads: no request for work waits for it then. */
import { describeError } from '#ground/base/errors.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { developmentAccount } from '../control/block-maker.ts'
import { branchAccount } from '../control/reorg.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Chains } from '../rules/chains.ts'
import type { NodeCopy } from './node-copy.ts'

interface WarmUpOptions {
  readonly chains: Chains
  readonly ledger: Ledger
  /** Accounts that may mine. */
  readonly accounts: readonly MinerAccount[] | undefined
  readonly onNotice: (message: string) => void
}

/** Rejects with NewcutError if the forked node does not answer and the network is new. */
export async function warmCopy(fork: NodeCopy, { chains, ledger, accounts, onNotice }: WarmUpOptions): Promise<void> {
  const isNew = fork.headers.size > 0
  const miners = [...(accounts ?? [developmentAccount]), branchAccount]
  const texts = miners.map(({ account }) => JSON.stringify(account))
  const warmed = fork.forked.map(async (chain) => {
    const head = chains.cut.get(chain)
    if (head === undefined) return
    await fork.warm(chain, ['coin'])
    for (const miner of miners) await fork.complete(() => ledger.begin(head, miner), texts)
  })
  try {
    await Promise.all(warmed)
  } catch (error) {
    if (isNew) throw error
    onNotice(`the forked node does not answer, and newcut tries again when code needs it: ${describeError(error)}`)
  }
}
