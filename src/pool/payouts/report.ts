/**
 * The report of a pool: amounts owed, paid and kept, with the blocks they come from. Amounts are coins as decimal
 * numbers.
 */

import { COIN, coinsText, unitsOf } from '#ground/base/coins.ts'
import { accountOfUser, unpaidReason } from '#mining/accounts/user-account.ts'
import type { Assessment, PoolBlockState, PoolRules } from './assess.ts'
import { type Balance, type Credit, isPayable } from './ledger.ts'
import { type Payment, paymentsOfPayout } from './payments.ts'
import { BLOCK_WORTH } from './schemes.ts'

/**
 * State of a part of a block.
 *
 * - `due`: the next run pays it
 * - `carried`: the balance is below the minimum
 * - `held`: its chain is unsettled
 * - `pending`: it is in an open payout
 * - `unpayable`: its user names no account
 * - `own`: its user is the pool's account
 * - `orphaned`: its block was orphaned before it was paid
 */
export type PartState = 'due' | 'carried' | 'held' | 'pending' | 'paid' | 'unpayable' | 'own' | 'orphaned'

interface ReportPart {
  readonly payee: string
  readonly amount: string
  readonly shares: number
  /** Worth of the counted shares in blocks, to 12 places. */
  readonly worth: string
  readonly state: PartState
}

export interface ReportBlock {
  readonly block: string
  readonly chain: number
  readonly height: number
  /** UTC, ISO 8601. */
  readonly foundAt: string
  readonly finder: string
  readonly state: PoolBlockState
  readonly depth: number | null
  readonly reward: string | null
  /** The account that its coinbase paid. */
  readonly account: string | null
  /** Null if it is not credited. */
  readonly division: {
    readonly scheme: string
    readonly fee: string
    readonly rest: string
    readonly parts: readonly ReportPart[]
  } | null
}

export interface ReportBalance {
  readonly chain: number
  readonly account: string
  readonly amount: string
  readonly state: 'due' | 'carried'
  readonly for: readonly { readonly block: string; readonly height: number; readonly amount: string }[]
}

/** The operator's amounts for blocks that count, on one chain. */
interface OperatorPart {
  readonly chain: number
  readonly fee: string
  readonly rest: string
  readonly own: string
  readonly unpayable: string
  /** Paid for blocks that were orphaned afterwards. */
  readonly lost: string
}

/** A user without an account. */
interface UnpaidUser {
  readonly user: string
  readonly reason: string
}

export interface PayoutReport {
  readonly network: string
  readonly account: string
  readonly scheme: string
  readonly window: string
  readonly feePercent: string
  readonly minimum: string
  readonly confirmations: number
  readonly blocks: readonly ReportBlock[]
  readonly balances: readonly ReportBalance[]
  readonly operator: readonly OperatorPart[]
  /** Users of the blocks who cannot be paid, sorted by name. */
  readonly unpaid: readonly UnpaidUser[]
  /** The oldest first. */
  readonly payments: readonly Payment[]
}

export function reportOf(
  { blocks, ledger, held }: Pick<Assessment, 'blocks' | 'ledger' | 'held'>,
  rules: PoolRules,
  minimum: bigint,
): PayoutReport {
  const { network, account, scheme, window, fee, confirmations } = rules
  const balances = ledger.balances(account, (block) => held.has(block))
  const carried = new Set(balances.filter(({ amount }) => amount < minimum).map(keyOf))
  const payouts = ledger.payouts.filter((payout) => payout.network === network && payout.account === account)
  const outcomes = new Map(payouts.map(({ requestKey, result }) => [requestKey, result?.outcome ?? 'pending']))
  const stateOf = (credit: Credit, payee: string): PartState => {
    if (accountOfUser(payee) !== payee) return 'unpayable'
    if (!isPayable(payee, credit)) return 'own'
    const payer = ledger.payerOf(credit.block, payee)
    if (payer !== null) return outcomes.get(payer) === 'paid' ? 'paid' : 'pending'
    if (credit.isOrphaned) return 'orphaned'
    if (held.has(credit.block)) return 'held'
    return carried.has(keyOf({ chain: credit.chain, account: payee })) ? 'carried' : 'due'
  }
  const credits = [...ledger.credits.values()].filter((each) => each.network === network && each.account === account)
  return {
    network,
    account,
    scheme,
    window: window.text,
    feePercent: fee.text,
    minimum: coinsText(minimum),
    confirmations,
    blocks: blocks.map((block) => reportBlock(block, ledger.credits.get(block.share.block), stateOf)),
    balances: balances.map((balance) => reportBalance(balance, carried.has(keyOf(balance)))),
    operator: operatorParts(credits, stateOf),
    unpaid: unpaidUsers(credits),
    payments: payouts.flatMap(paymentsOfPayout),
  }
}

/** Users who cannot be paid, with the reason. */
function unpaidUsers(credits: readonly Credit[]): UnpaidUser[] {
  const users = new Set(credits.flatMap(({ parts }) => parts.map(({ payee }) => payee)))
  return [...users].toSorted().flatMap((user) => {
    if (accountOfUser(user) === user) return []
    return [{ user, reason: unpaidReason(user) ?? 'an earlier version of newcut did not know its account' }]
  })
}

const keyOf = ({ chain, account }: Pick<Balance, 'chain' | 'account'>) => `${chain} ${account}`

function reportBlock(
  { share, state, depth, reward }: Assessment['blocks'][number],
  credit: Credit | undefined,
  stateOf: (credit: Credit, payee: string) => PartState,
): ReportBlock {
  const { block, chain, height, timeMs, user } = share
  return {
    block,
    chain,
    height,
    foundAt: new Date(timeMs).toISOString(),
    finder: user,
    state,
    depth,
    reward: reward === null ? null : coinsText(reward.amount),
    account: reward?.account ?? null,
    division: credit === undefined ? null : divisionOf(credit, stateOf),
  }
}

function divisionOf(credit: Credit, stateOf: (credit: Credit, payee: string) => PartState): ReportBlock['division'] {
  const { scheme, fee, rest } = credit
  const parts = credit.parts.map(({ payee, amount, shares, worth }) => {
    const blocks = coinsText((BigInt(worth) * COIN) / BLOCK_WORTH)
    return { payee, amount, shares, worth: blocks, state: stateOf(credit, payee) }
  })
  return { scheme, fee, rest, parts }
}

function reportBalance({ chain, account, amount, claims }: Balance, isCarried: boolean): ReportBalance {
  const parts = claims.map(({ credit: { block, height }, amount: part }) => {
    return { block, height, amount: coinsText(part) }
  })
  return { chain, account, amount: coinsText(amount), state: isCarried ? 'carried' : 'due', for: parts }
}

/** Sums the operator's amounts by chain. */
function operatorParts(
  credits: readonly Credit[],
  stateOf: (credit: Credit, payee: string) => PartState,
): OperatorPart[] {
  const chains = [...new Set(credits.map(({ chain }) => chain))].sort((a, b) => a - b)
  return chains.map((chain) => {
    const own = credits.filter((credit) => credit.chain === chain)
    const standing = own.filter(({ isOrphaned }) => !isOrphaned)
    const orphaned = own.filter(({ isOrphaned }) => isOrphaned)
    const sum = (blocks: readonly Credit[], ...states: readonly PartState[]) => {
      const isCounted = (credit: Credit, payee: string) => states.includes(stateOf(credit, payee))
      const parts = blocks.flatMap((credit) => credit.parts.filter(({ payee }) => isCounted(credit, payee)))
      return coinsText(totalOf(parts))
    }
    return {
      chain,
      fee: coinsText(totalOf(standing.map(({ fee }) => ({ amount: fee })))),
      rest: coinsText(totalOf(standing.map(({ rest }) => ({ amount: rest })))),
      own: sum(standing, 'own'),
      unpayable: sum(standing, 'unpayable'),
      lost: sum(orphaned, 'paid', 'pending'),
    }
  })
}

function totalOf(parts: readonly { readonly amount: string }[]): bigint {
  return parts.reduce((sum, { amount }) => sum + (unitsOf(amount) ?? 0n), 0n)
}
