/** The order that gives coins to an account: privileged code that mints them. */
import type { RunOrder } from './control-commands.ts'

/** Which account gets how many coins. */
export interface Funding {
  readonly account: string
  /** Decimal text, such as 100 or 0.5. */
  readonly amount: string
  readonly chain: number
}

const KEY_ACCOUNT = /^k:([0-9a-f]{64})$/

/**
 * Code for `POST /devnet/run`. It mints coins as a block reward does, and tells the new balance. A `k:` account may be
 * new; any other must exist, because its guard is not known.
 */
export function fundOrder({ account, amount, chain }: Funding): RunOrder {
  const [, key] = KEY_ACCOUNT.exec(account) ?? []
  const guard = key === undefined ? '(at "guard" (coin.details account))' : '(read-keyset "keyset")'
  const code = `(let ((account (read-string "account")))
  (coin.coinbase account ${guard} (read-decimal "amount"))
  (coin.get-balance account))`
  const keyset = key === undefined ? {} : { keyset: { keys: [key], pred: 'keys-all' } }
  return {
    chain,
    code,
    data: { account, amount: { decimal: amount }, ...keyset },
    caps: [{ name: 'coin.COINBASE', args: [] }],
  }
}
