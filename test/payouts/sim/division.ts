/**
 * The division of a reward by PAYOUTS.md, in exact fractions. It shares no code with src/payouts, so that a fault of a
 * rule shows.
 */
import type { ShareEntry } from '../../../src/mining/accounts/share-store.ts'

/** Amounts by payee, in 10^-12 coins. */
export interface Parts {
  readonly fee: bigint
  readonly rest: bigint
  readonly amounts: ReadonlyMap<string, bigint>
}

export interface Terms {
  readonly scheme: 'pplns' | 'prop' | 'solo'
  /** In tenths of a block. */
  readonly windowTenths: bigint
  /** In thousandths. */
  readonly feeThousandths: bigint
}

const lowerAccount = (user: string) => (/^(k:)?[0-9a-f]{64}$/i.test(user) ? `k:${user.slice(-64).toLowerCase()}` : user)
/** Difficulties of the simulation are whole numbers. */
const worth = ({ difficulty, blockDifficulty }: ShareEntry) => (BigInt(difficulty) << 96n) / BigInt(blockDifficulty)

/**
 * @param shares those that may count, the newest first: for PPLNS all up to that of the block, for PROP those of its
 * round
 */
export function divided(reward: bigint, terms: Terms, shares: readonly ShareEntry[]): Parts {
  const fee = (reward * terms.feeThousandths) / 1000n
  const left = reward - fee
  const sums = new Map<string, bigint>()
  const add = (user: string, weight: bigint) => {
    const payee = lowerAccount(user)
    sums.set(payee, (sums.get(payee) ?? 0n) + weight)
  }
  let whole = 1n
  if (terms.scheme === 'solo') add(shares[0].user, 1n)
  else if (terms.scheme === 'prop') {
    for (const { user, difficulty } of shares) add(user, BigInt(difficulty))
    whole = shares.reduce((sum, { difficulty }) => sum + BigInt(difficulty), 0n)
  } else {
    whole = (terms.windowTenths << 96n) / 10n
    let open = whole
    for (const share of shares) {
      if (open === 0n) break
      const counted = worth(share) < open ? worth(share) : open
      add(share.user, counted)
      open -= counted
    }
  }
  const amounts = new Map([...sums].map(([payee, weight]) => [payee, whole === 0n ? 0n : (left * weight) / whole]))
  const rest = [...amounts.values()].reduce((sum, amount) => sum - amount, left)
  return { fee, rest, amounts }
}
