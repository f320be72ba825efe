/** The accounts that development networks fund, as the node shows them when it starts. */
import type { ConsoleEvent } from '../cli/console.ts'
import { developmentAccounts } from '../core/development-accounts.ts'

const WARNING = 'everybody knows these keys: never use them on another network'

/** Names, keys and coins. */
export function fundedAccounts(): ConsoleEvent {
  const accounts = developmentAccounts.map(({ balance, ...account }) => ({ ...account, coinsAtGenesis: balance }))
  return { type: 'accounts', warning: WARNING, accounts }
}
