/** Payments of a payout journal, in the form that other programs get. */
import { type Payout, PayoutLedger } from './ledger.ts'
import { readPayouts } from './payout-journal.ts'
import type { PayoutLine } from './payout-line.ts'

/** A transfer to an account. */
export interface Payment {
  /** Time of the payout: UTC, ISO 8601. */
  readonly at: string
  readonly network: string
  readonly chain: number
  readonly account: string
  /** Coins as a decimal number. */
  readonly amount: string
  /** Request key of the transaction, which may have other transfers too. */
  readonly requestKey: string
  /** `pending`: the result is unknown; the transaction may or may not be in a block. */
  readonly state: 'pending' | 'paid' | 'failed' | 'expired'
  /** Hashes of the blocks that it pays for. */
  readonly blocks: readonly string[]
}

/** All payments, the oldest first. */
export function paymentsOf(lines: readonly PayoutLine[]): Payment[] {
  return new PayoutLedger(lines).payouts.flatMap(paymentsOfPayout)
}

/** The transfers of one payout. */
export function paymentsOfPayout({ at, network, chain, requestKey, pays, result }: Payout): Payment[] {
  const state = result?.outcome ?? 'pending'
  return pays.map(({ account, amount, for: parts }) => {
    return { at, network, chain, account, amount, requestKey, state, blocks: parts.map(({ block }) => block) }
  })
}

/**
 * The payments in the journal of a state folder; empty without a journal.
 * @throws NewcutError DATA_UNUSABLE
 */
export const readPayments = (folder: string): Payment[] => paymentsOf(readPayouts(folder))
