/** Funds accounts when a node starts: privileged code mints their coins on every chain, in a block of its own. */
import { PHRASE_COINS } from '#ground/chain/development-accounts.ts'
import type { Network } from '#ground/chain/network.ts'
import type { FundingMethod } from '#ground/schema/control.ts'
import { mintCode, privilegesFor } from '#ground/schema/fund-request.ts'
import type { BlockMaker } from '../control/block-maker.ts'
import type { PhraseAccount } from '../control/phrase-accounts.ts'
import { runPrivileged } from './routes/control-run.ts'

/** Accounts of one command: more would need more gas than a block has. */
const ACCOUNTS_PER_COMMAND = 100

/** @returns code that mints coins for all accounts of the data */
function codeFor(minting: FundingMethod): string {
  const mint = mintCode(minting, '(at 1 a)')
  return `(map (lambda (a) (let ((account (at 0 a)) (amount ${PHRASE_COINS}.0)) ${mint})) (read-msg "accounts"))`
}

/** How coins are made on a network: a contract that computes rewards mints no other amount. */
export const mintingOn = ({ coinbase }: Pick<Network, 'coinbase'>): FundingMethod =>
  coinbase.isReturned ? 'rows' : 'coinbase'

/** Mints coins for the accounts that a chain does not have. @throws Error if the contract refuses, and ControlError */
export async function fundAccounts(
  maker: BlockMaker,
  accounts: readonly PhraseAccount[],
  nowMs: () => number,
  signal: AbortSignal,
): Promise<void> {
  const { ledger } = maker.coordinator
  const minting = mintingOn(maker.chains.network)
  for (const chain of maker.chains.chainIds) {
    const missing = await ledger.read(chain, (state) =>
      accounts.filter(({ account }) => state.get('table:coin.coin-table', account) === undefined),
    )
    for (let first = 0; first < missing.length; first += ACCOUNTS_PER_COMMAND) {
      const some = missing.slice(first, first + ACCOUNTS_PER_COMMAND)
      const data = { accounts: some.map(({ account, publicKey: key }) => [account, { keys: [key], pred: 'keys-all' }]) }
      const request = { chain, code: codeFor(minting), data, ...privilegesFor(minting) }
      const { result } = await runPrivileged(maker, request, nowMs(), signal)
      if (result.status !== 'success') throw new Error(`no coins on chain ${chain}: ${JSON.stringify(result)}`)
    }
  }
  await maker.chains.durable()
}
