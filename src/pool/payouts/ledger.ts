/** The ledger: the sum of the lines of a payout journal. Pure. */

import { coinsText, unitsOf } from '#ground/base/coins.ts'
import { accountOfUser } from '#mining/accounts/user-account.ts'
import type { CreditLine, PaidAmount, PayoutLine, ResultLine, SentLine } from './payout-line.ts'
import type { Span } from './rounds.ts'

/** A credited block, and whether it is orphaned. */
export interface Credit extends CreditLine {
  readonly isOrphaned: boolean
}

/** A payout, with its result or null while it is open. */
export interface Payout extends SentLine {
  readonly result: ResultLine | null
}

/** An unpaid amount of an account for one block. */
interface UnpaidPart {
  readonly account: string
  readonly credit: Credit
  readonly amount: bigint
}

/** The unpaid amounts of an account on one chain. */
export interface Balance {
  readonly chain: number
  readonly account: string
  readonly amount: bigint
  readonly claims: readonly UnpaidPart[]
}

/**
 * Whether a line may belong to a network. Lines without a network refer to a line that has one, and have no effect
 * without it.
 */
export const isOnNetwork = (line: PayoutLine, network: string) => !('network' in line) || line.network === network

/** The sum of the lines of one network. */
export class PayoutLedger {
  readonly #credits = new Map<string, Credit>()
  readonly #payouts = new Map<string, Payout>()
  /** Block and account -> request key of the payout that pays for it, unless the payout failed. */
  readonly #spent = new Map<string, string>()

  constructor(lines: readonly PayoutLine[] = []) {
    this.add(...lines)
  }

  /** @returns a ledger with further lines; this one does not change */
  copyWith(lines: readonly PayoutLine[]): PayoutLedger {
    const next = new PayoutLedger()
    for (const [block, credit] of this.#credits) next.#credits.set(block, credit)
    for (const [key, payout] of this.#payouts) next.#payouts.set(key, payout)
    for (const [key, payout] of this.#spent) next.#spent.set(key, payout)
    next.add(...lines)
    return next
  }

  add(...lines: readonly PayoutLine[]): void {
    for (const line of lines) this.#apply(line)
  }

  #apply(line: PayoutLine): void {
    switch (line.type) {
      case 'credit':
        // Only the first credit of a block counts.
        if (!this.#credits.has(line.block)) this.#credits.set(line.block, { ...line, isOrphaned: false })
        return
      case 'orphaned':
      case 'restored': {
        const credit = this.#credits.get(line.block)
        if (credit !== undefined) this.#credits.set(line.block, { ...credit, isOrphaned: line.type === 'orphaned' })
        return
      }
      case 'order': {
        if (this.#payouts.has(line.requestKey)) return
        this.#payouts.set(line.requestKey, { ...line, result: null })
        for (const key of keysOf(line.pays)) this.#spent.set(key, line.requestKey)
        return
      }
      case 'result': {
        const payout = this.#payouts.get(line.requestKey)
        if (payout === undefined || payout.result !== null) return
        this.#payouts.set(line.requestKey, { ...payout, result: line })
        if (line.outcome === 'paid') return
        for (const key of keysOf(payout.pays)) {
          if (this.#spent.get(key) === line.requestKey) this.#spent.delete(key)
        }
      }
    }
  }

  /** Credited blocks by block hash. */
  get credits(): ReadonlyMap<string, Credit> {
    return this.#credits
  }

  /** All payouts, the oldest first. */
  get payouts(): readonly Payout[] {
    return [...this.#payouts.values()]
  }

  /** Payouts without a result. */
  get openPayouts(): readonly Payout[] {
    return this.payouts.filter(({ result }) => result === null)
  }

  /** @returns the request key of the payout that pays an account for a block, or null if all failed or there is none */
  payerOf(block: string, account: string): string | null {
    return this.#spent.get(keyOf(block, account)) ?? null
  }

  /** Whether any part of a block is paid or in an open payout. */
  isSpent(credit: Credit): boolean {
    return credit.parts.some(({ payee }) => this.payerOf(credit.block, payee) !== null)
  }

  /** Shares that later rounds exclude: the rounds of blocks that count, and of orphans that were paid. */
  get usedSpans(): readonly Span[] {
    return [...this.#credits.values()]
      .filter((credit) => !credit.isOrphaned || this.isSpent(credit))
      .flatMap(({ round }) => round)
  }

  /** Unpaid parts of a block, except those of the pool's own account and of users without an account. */
  claimsOf(credit: Credit): UnpaidPart[] {
    return credit.parts.flatMap(({ payee, amount: text }) => {
      const amount = unitsOf(text) ?? 0n
      if (!isPayable(payee, credit) || amount === 0n || this.payerOf(credit.block, payee) !== null) return []
      return { account: payee, credit, amount }
    })
  }

  /**
   * Unpaid amounts of blocks that count, by chain and account.
   * @param account account of the pool
   * @param isHeld excludes blocks whose chain is unsettled
   */
  balances(account: string, isHeld: (block: string) => boolean = () => false): Balance[] {
    const byKey = new Map<string, UnpaidPart[]>()
    for (const credit of this.#credits.values()) {
      if (credit.isOrphaned || credit.account !== account || isHeld(credit.block)) continue
      for (const claim of this.claimsOf(credit)) {
        const key = keyOf(String(credit.chain), claim.account)
        const claims = byKey.get(key)
        if (claims === undefined) byKey.set(key, [claim])
        else claims.push(claim)
      }
    }
    return [...byKey.values()].map(balanceOf).sort((a, b) => a.chain - b.chain || (a.account < b.account ? -1 : 1))
  }
}

/**
 * Whether a part of a block is paid out. An earlier version took `K:KEY` for a user without account. Such a part of its
 * journal stays unpaid, because the operator may have paid it by hand. The operator keeps those of its own account and
 * of users without an account.
 */
export const isPayable = (payee: string, { account }: Pick<Credit, 'account'>) =>
  accountOfUser(payee) === payee && payee !== account

/** The part of a payout that pays this balance. */
export function transferOf({ account, amount, claims }: Balance): PaidAmount {
  const parts = claims.map(({ credit, amount: part }) => ({ block: credit.block, amount: coinsText(part) }))
  return { account, amount: coinsText(amount), for: parts }
}

function balanceOf(claims: readonly UnpaidPart[]): Balance {
  const [{ account, credit }] = claims
  const amount = claims.reduce((sum, claim) => sum + claim.amount, 0n)
  return { chain: credit.chain, account, amount, claims }
}

const keyOf = (block: string, account: string) => `${block} ${account}`
const keysOf = (pays: readonly PaidAmount[]) =>
  pays.flatMap(({ account, for: parts }) => parts.map(({ block }) => keyOf(block, account)))
