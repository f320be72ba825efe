/** The accounts that development networks fund, as the node shows them when it starts. */
import type { ConsoleEvent } from '../cli/notices.ts'
import { developmentAccounts } from '../core/development-accounts.ts'

const WARNING = 'these keys are public: never use them on another network'

/** Names, keys, coins, and how to sign with them at this node. */
export function fundedAccounts(url: string): ConsoleEvent {
  const accounts = developmentAccounts.map(({ balance, ...account }) => ({ ...account, coinsAtGenesis: balance }))
  const hint = `sign as one of them: newcut transfer sender01 1.5 --key sender00 --node ${url}`
  return { type: 'accounts', warning: WARNING, accounts, hint }
}
