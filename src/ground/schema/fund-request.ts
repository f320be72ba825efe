/** The control request that gives coins to accounts: privileged code that mints them. */
import type { FundingMethod } from './control.ts'
import type { RunRequest } from './control-commands.ts'

/** Which account gets how many coins. */
interface Funding {
  readonly account: string
  /** Decimal text, such as 100 or 0.5. */
  readonly amount: string
  readonly chain: number
}

const KEY_ACCOUNT = /^k:([0-9a-f]{64})$/

/**
 * Code for `POST /devnet/run`. It mints coins as a block reward does, and returns the new balance. A `k:` account may be
 * new; any other must exist, because its guard is not known.
 */
export function fundRequest({ account, amount, chain }: Funding, minting: FundingMethod): RunRequest {
  const [, key] = KEY_ACCOUNT.exec(account) ?? []
  const guard = key === undefined ? '(at "guard" (coin.details account))' : '(read-keyset "keyset")'
  const code = `(let ((account (read-string "account")) (amount (read-decimal "amount")))
  ${mintCode(minting, guard)}
  (coin.get-balance account))`
  const keyset = key === undefined ? {} : { keyset: { keys: [key], pred: 'keys-all' } }
  return { chain, code, data: { account, amount: { decimal: amount }, ...keyset }, ...privilegesFor(minting) }
}

/** Code that mints `amount` coins for `account`. @param guard expression for the guard of a new account */
export function mintCode(minting: FundingMethod, guard: string): string {
  if (minting === 'coinbase') return `(coin.coinbase account ${guard} amount)`
  return `(with-default-read coin.coin-table account { "balance": 0.0, "guard": ${guard} } { "balance" := b, "guard" := g }
    (write coin.coin-table account { "balance": (+ b amount), "guard": g }))`
}

/** Privileges of that code. */
export const privilegesFor = (minting: FundingMethod): Pick<RunRequest, 'admin' | 'caps'> =>
  minting === 'coinbase' ? { caps: [{ name: 'coin.COINBASE', args: [] }] } : { admin: ['coin'] }
