/** Formats payments and balances as miningcore does. The caller supplies the figures. */
import { selectPage } from './pages.ts'

/** A settled payment. Coins are decimal numbers. */
interface ShownPayment {
  /** UTC, ISO 8601. */
  readonly at: string
  readonly chain: number
  readonly account: string
  readonly amount: string
  readonly requestKey: string
}

interface ShownBalance {
  /** 10^-12 coins. */
  readonly pending: bigint
  readonly paid: bigint
  /** Newest first. */
  readonly payments: readonly ShownPayment[]
}

/** Payouts to the users of a pool. */
export interface ShownPayouts {
  /** The payout rules, or null before the first payout. */
  readonly rules: { readonly scheme: string; readonly feePercent: string; readonly minimum: string | null } | null
  /** 10^-12 coins. */
  readonly paid: bigint
  /** Newest first. */
  readonly payments: readonly ShownPayment[]
  balanceOf(user: string): ShownBalance
}

/** Reads the payouts. Resolves with null while they cannot be read. */
export type ReadPayouts = () => Promise<ShownPayouts | null>

/** Default page size. */
const PAGE = 15
const DAY_MS = 86_400_000

/** The fields `paymentProcessing` and `poolFeePercent` of a pool. */
export function processingShape(payouts: ShownPayouts | null) {
  const rules = payouts?.rules ?? null
  return {
    paymentProcessing: {
      enabled: rules !== null,
      minimumPayment: Number(rules?.minimum ?? 0),
      payoutScheme: (rules?.scheme ?? 'solo').toUpperCase(),
    },
    poolFeePercent: Number(rules?.feePercent ?? 0),
  }
}

/**
 * Balance and payments of a miner.
 * @param nowMs wall clock; a day begins at midnight UTC
 */
export function balanceShape(payouts: ShownPayouts | null, user: string, nowMs: number) {
  const { pending, paid, payments } = payouts?.balanceOf(user) ?? { pending: 0n, paid: 0n, payments: [] }
  const midnightMs = Math.floor(nowMs / DAY_MS) * DAY_MS
  const today = payments.filter(({ at }) => Date.parse(at) >= midnightMs)
  return {
    pendingBalance: coins(pending),
    totalPaid: coins(paid),
    todayPaid: Number(today.reduce((sum, { amount }) => sum + Number(amount), 0).toFixed(12)),
    lastPayment: payments.at(0)?.at ?? null,
  }
}

/**
 * The payments on the page of a request.
 * @throws an error with status 400
 */
export const paymentPage = (payments: readonly ShownPayment[], query: unknown, symbol: string) =>
  selectPage(payments, query, PAGE).map((payment) => paymentShape(payment, symbol))

function paymentShape({ at, chain, account, amount, requestKey }: ShownPayment, coin: string) {
  return {
    coin,
    address: account,
    amount: Number(amount),
    chain,
    transactionConfirmationData: requestKey,
    created: at,
  }
}

/** Converts units of 10^-12 coins to coins. */
export const coins = (units: bigint) => Number(units) / 1e12
