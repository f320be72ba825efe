/** The ledger: what the lines of a journal of payouts add up to. Pure. */
import { coinsText, unitsOf } from './coins.ts'
import { accountOfUser } from './payee.ts'
import type { CreditLine, OrderLine, Paid, PayoutLine, ResultLine } from './payout-line.ts'
import type { Span } from './rounds.ts'

/** A block that counts, and whether it still does. */
export interface Credit extends CreditLine {
  readonly isOrphaned: boolean
}

/** A command that pays, and what became of it; null: nothing is settled. */
export interface PayoutOrder extends OrderLine {
  readonly result: ResultLine | null
}

/** What is owed to an account for one block. */
export interface UnpaidPart {
  readonly account: string
  readonly credit: Credit
  readonly amount: bigint
}

/** An account on a chain, and all that is owed to it there. */
export interface Balance {
  readonly chain: number
  readonly account: string
  readonly amount: bigint
  readonly claims: readonly UnpaidPart[]
}

/** Whether a line may be of a network. Those that name none are of a line that does, and mean nothing without it. */
export const isOnNetwork = (line: PayoutLine, network: string) => !('network' in line) || line.network === network

/** The lines of one network, added up. */
export class PayoutLedger {
  readonly #credits = new Map<string, Credit>()
  readonly #orders = new Map<string, PayoutOrder>()
  /** Block and account -> whether an order pays for it that has not failed. */
  readonly #spent = new Map<string, string>()

  constructor(lines: readonly PayoutLine[] = []) {
    this.add(...lines)
  }

  /** A ledger with these lines too; this one stays as it is. */
  with(lines: readonly PayoutLine[]): PayoutLedger {
    const next = new PayoutLedger()
    for (const [block, credit] of this.#credits) next.#credits.set(block, credit)
    for (const [key, order] of this.#orders) next.#orders.set(key, order)
    for (const [key, order] of this.#spent) next.#spent.set(key, order)
    next.add(...lines)
    return next
  }

  add(...lines: readonly PayoutLine[]): void {
    for (const line of lines) this.#take(line)
  }

  #take(line: PayoutLine): void {
    switch (line.type) {
      case 'credit':
        // Once for each block, whatever is said later.
        if (!this.#credits.has(line.block)) this.#credits.set(line.block, { ...line, isOrphaned: false })
        return
      case 'orphaned':
      case 'restored': {
        const credit = this.#credits.get(line.block)
        if (credit !== undefined) this.#credits.set(line.block, { ...credit, isOrphaned: line.type === 'orphaned' })
        return
      }
      case 'order': {
        if (this.#orders.has(line.requestKey)) return
        this.#orders.set(line.requestKey, { ...line, result: null })
        for (const key of keysOf(line.pays)) this.#spent.set(key, line.requestKey)
        return
      }
      case 'result': {
        const order = this.#orders.get(line.requestKey)
        if (order === undefined || order.result !== null) return
        this.#orders.set(line.requestKey, { ...order, result: line })
        if (line.outcome === 'paid') return
        for (const key of keysOf(order.pays)) {
          if (this.#spent.get(key) === line.requestKey) this.#spent.delete(key)
        }
      }
    }
  }

  /** Blocks that were credited, by block hash. */
  get credits(): ReadonlyMap<string, Credit> {
    return this.#credits
  }

  /** All orders, oldest first. */
  get orders(): readonly PayoutOrder[] {
    return [...this.#orders.values()]
  }

  /** Orders that may still pay. */
  get openOrders(): readonly PayoutOrder[] {
    return this.orders.filter(({ result }) => result === null)
  }

  /** The request key of the order that pays an account for a block; null: there is none that has not failed. */
  payerOf(block: string, account: string): string | null {
    return this.#spent.get(keyOf(block, account)) ?? null
  }

  /** Whether anything was paid for a block, or is about to be. */
  isSpent(credit: Credit): boolean {
    return credit.parts.some(({ payee }) => this.payerOf(credit.block, payee) !== null)
  }

  /** Rounds that no other block may have: those of blocks that count, and of orphans that were paid for. */
  get usedSpans(): readonly Span[] {
    return [...this.#credits.values()]
      .filter((credit) => !credit.isOrphaned || this.isSpent(credit))
      .flatMap(({ round }) => round)
  }

  /**
   * What is owed for a block: to accounts other than the pool's own, and not paid by any order.
   */
  claimsOf(credit: Credit): UnpaidPart[] {
    return credit.parts.flatMap(({ payee, amount: text }) => {
      const amount = unitsOf(text) ?? 0n
      if (!isPayable(payee, credit) || amount === 0n || this.payerOf(credit.block, payee) !== null) return []
      return { account: payee, credit, amount }
    })
  }

  /** What is owed for blocks that count, of those that `isHeld` does not hold back; by chain and account. */
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

/** Whether a part of a block is paid: users without account and the pool's own account have theirs already. */
export const isPayable = (payee: string, { account }: Pick<Credit, 'account'>) =>
  accountOfUser(payee) !== null && payee !== account

/** What an order pays for these claims of one account. */
export function paidFor({ account, amount, claims }: Balance): Paid {
  const parts = claims.map(({ credit, amount: part }) => ({ block: credit.block, amount: coinsText(part) }))
  return { account, amount: coinsText(amount), for: parts }
}

function balanceOf(claims: readonly UnpaidPart[]): Balance {
  const [{ account, credit }] = claims
  const amount = claims.reduce((sum, claim) => sum + claim.amount, 0n)
  return { chain: credit.chain, account, amount, claims }
}

const keyOf = (block: string, account: string) => `${block} ${account}`
const keysOf = (pays: readonly Paid[]) =>
  pays.flatMap(({ account, for: parts }) => parts.map(({ block }) => keyOf(block, account)))
