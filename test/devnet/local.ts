/** Evaluates code on the heads of chains, directly by the ledger. */
import type { Ledger } from '../../src/devnet/ledger/ledger.ts'
import { type Change, signed } from './command.ts'
import { commandOf } from './read-command.ts'

/** The value of code after the head of a chain, as JSON. Throws if the code fails. */
export function localValue(ledger: Ledger, chain: number, code: string, data: Change = {}): unknown {
  const command = signed({ chainId: `${chain}`, gasLimit: 150_000 }, { payload: { exec: { data, code } } })
  const { result } = JSON.parse(ledger.local(chain, commandOf(command)))
  if (result.status !== 'success') throw new Error(JSON.stringify(result))
  return result.data
}
