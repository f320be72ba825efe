/** The payments in a journal of payouts, as other programs show them. */
import { PayoutLedger, type PayoutOrder } from './ledger.ts'
import { readPayouts } from './payout-journal.ts'
import type { PayoutLine } from './payout-line.ts'

/** A transfer to an account. */
export interface Payment {
  /** When it was decided: UTC, ISO 8601. */
  readonly at: string
  readonly network: string
  readonly chain: number
  readonly account: string
  /** Coins: a decimal number. */
  readonly amount: string
  /** Of the command, which may have other transfers too. */
  readonly requestKey: string
  /** `pending`: it may or may not be in a block, and nothing is settled. */
  readonly state: 'pending' | 'paid' | 'failed' | 'expired'
  /** Hashes of the blocks that it pays for. */
  readonly blocks: readonly string[]
}

/** Oldest first. */
export function paymentsOf(lines: readonly PayoutLine[]): Payment[] {
  return new PayoutLedger(lines).orders.flatMap(paymentsOfOrder)
}

/** The transfers of one order. */
export function paymentsOfOrder({ at, network, chain, requestKey, pays, result }: PayoutOrder): Payment[] {
  const state = result?.outcome ?? 'pending'
  return pays.map(({ account, amount, for: parts }) => {
    return { at, network, chain, account, amount, requestKey, state, blocks: parts.map(({ block }) => block) }
  })
}

/** The payments in the journal of a folder for state; none without one. Throws NewcutError DATA_UNUSABLE. */
export const readPayments = (folder: string): Payment[] => paymentsOf(readPayouts(folder))
