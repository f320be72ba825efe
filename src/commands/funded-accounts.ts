/** The accounts that development networks fund, as the node shows them when it starts. */
import { linePrinter } from '../cli/line.ts'
import type { Surroundings } from '../cli/program.ts'
import { developmentAccounts } from '../core/development-accounts.ts'

const WARNING = 'everybody knows these keys: never use them on another network'

/** Shows names, keys, coins and how to sign with them: lines, or a JSON record of the event `accounts`. */
export function showFundedAccounts(
  format: 'text' | 'json',
  url: string,
  { out, environment, nowMs }: Surroundings,
): void {
  if (format === 'json') {
    const time = new Date(nowMs()).toISOString()
    const accounts = developmentAccounts.map(({ balance, ...account }) => ({ ...account, coinsAtGenesis: balance }))
    out.write(`${JSON.stringify({ level: 'info', time, event: 'accounts', warning: WARNING, accounts })}\n`)
    return
  }
  out.write('funded accounts, with their coins at genesis on every chain:\n')
  for (const { account, publicKey, secretKey, balance } of developmentAccounts) {
    out.write(`  ${account} public ${publicKey} secret ${secretKey} coins ${balance}\n`)
  }
  out.write(`sign as one of them: newcut transfer sender01 1.5 --key sender00 --node ${url}\n`)
  linePrinter(out, environment, nowMs)({ label: 'warning', style: 'yellow', text: WARNING })
}
