/** A transaction with many transfers from the account of the pool. */
import { type Capability, GAS, quoteForCode } from '#client/wallet/capability.ts'
import type { Payload } from '#client/wallet/command.ts'
import { keysetOf } from '#client/wallet/transfer.ts'

/** A transfer of a batch. */
export interface BatchTransfer {
  readonly account: string
  /** Decimal number with a point. */
  readonly amount: string
  /** Whether the transfer has to create the account. */
  readonly isNew: boolean
}

/**
 * Gas without transfers, and for each transfer. The limit is more than twice the actual gas, which is some 250 for one
 * transfer and 13,600 for a hundred new accounts.
 */
const BASE_GAS = 500
const TRANSFER_GAS = 400
/**
 * Maximum number of transfers per transaction. The gas for its size grows with the seventh power, and is negligible up
 * to 40 kB.
 */
const MAX_TRANSFERS = 100

/** Gas limit for this number of transfers. */
export const gasFor = (transfers: number) => BASE_GAS + transfers * TRANSFER_GAS

/** Maximum number of transfers for this gas limit, at least one. */
export const transfersIn = (gasLimit: number) =>
  Math.min(MAX_TRANSFERS, Math.max(1, Math.floor((gasLimit - BASE_GAS) / TRANSFER_GAS)))

/** Code, data and capabilities of the transaction. Either all transfers happen, or none. */
export function batchOf(
  from: string,
  transfers: readonly BatchTransfer[],
): { readonly payload: Payload; readonly capabilities: readonly Capability[] } {
  const data: Record<string, unknown> = {}
  const forms = transfers.map(({ account, amount, isNew }, i) => {
    const ends = `${quoteForCode(from)} ${quoteForCode(account)}`
    if (!isNew) return `(coin.transfer ${ends} ${amount})`
    data[`guard-${i}`] = keysetOf(account)
    return `(coin.transfer-create ${ends} (read-keyset "guard-${i}") ${amount})`
  })
  const capabilities = transfers.map(({ account, amount }) => {
    return { name: 'coin.TRANSFER', args: [from, account, { decimal: amount }] }
  })
  return { payload: { code: forms.join('\n'), data: JSON.stringify(data) }, capabilities: [GAS, ...capabilities] }
}
