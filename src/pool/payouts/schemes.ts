/**
 * Divides the reward of a block. Pure: the same shares give the same amounts.
 *
 * All numbers are integers, so sums are exact. Difficulties are in 2^-52 hashes, in which every double from 1 is an
 * integer. The worth of a share is in 2^-96 blocks, rounded down for each share. Amounts are in 10^-12 coins, rounded
 * down for each payee; the operator keeps the remainder.
 */

import type { Fraction } from '#ground/base/coins.ts'
import type { ShareEntry } from '#mining/accounts/share-store.ts'
import { payeeOfUser } from '#mining/accounts/user-account.ts'

/** The schemes by name. */
const schemeNames = ['pplns', 'prop', 'solo'] as const
export type SchemeName = (typeof schemeNames)[number]

/** The parameters of a scheme. */
interface DivisionTerms {
  readonly scheme: SchemeName
  /** PPLNS: total worth of the paid shares, in blocks. */
  readonly window: Fraction
  /** Part of the reward that the operator takes first, from 0 to 1. */
  readonly fee: Fraction
}

/** The part of one payee. */
interface RewardPart {
  /** An account, or the name of a user without an account. */
  readonly payee: string
  /** In 10^-12 coins. */
  readonly amount: bigint
  /** Number of shares that it is for. */
  readonly shares: number
  /** Worth of these shares in 2^-96 blocks. */
  readonly worth: bigint
}

/** The divided reward of a block: `reward = fee + rest + all amounts`. */
export interface RewardSplit {
  readonly fee: bigint
  /** Remainder of rounding and, for PPLNS, of a window that is not full. */
  readonly rest: bigint
  /** Sorted by payee. */
  readonly parts: readonly RewardPart[]
}

/** Worth of one block. */
export const BLOCK_WORTH = 1n << 96n
const DIFFICULTY_UNITS = 2 ** 52

type WeightedShare = Pick<ShareEntry, 'user' | 'difficulty' | 'blockDifficulty'>

/** A difficulty in 2^-52 hashes, or 0 if it is not a positive number. */
function difficultyUnits(difficulty: number): bigint {
  const units = difficulty * DIFFICULTY_UNITS
  return Number.isFinite(units) && difficulty > 0 ? BigInt(Math.trunc(units)) : 0n
}

/** Worth of a share in 2^-96 blocks. */
export function worthOf({ difficulty, blockDifficulty }: WeightedShare): bigint {
  const block = difficultyUnits(blockDifficulty)
  return block === 0n ? 0n : (difficultyUnits(difficulty) * BLOCK_WORTH) / block
}

interface PayeeSum {
  shares: number
  worth: bigint
  /** Part in the division, in the unit of the scheme. */
  weight: bigint
}

/** Sums of shares by payee. */
class Tally {
  readonly #sums = new Map<string, PayeeSum>()
  /** Sum over all payees. */
  weight = 0n

  add(user: string, worth: bigint, weight: bigint): void {
    const payee = payeeOfUser(user)
    const sum = this.#sums.get(payee) ?? { shares: 0, worth: 0n, weight: 0n }
    this.#sums.set(payee, { shares: sum.shares + 1, worth: sum.worth + worth, weight: sum.weight + weight })
    this.weight += weight
  }

  /** @param whole the weight that earns the whole reward */
  divide(reward: bigint, fee: Fraction, whole: bigint): RewardSplit {
    const feeAmount = (reward * fee.numerator) / fee.denominator
    const left = reward - feeAmount
    const parts = [...this.#sums]
      .map(([payee, { shares, worth, weight }]) => {
        return { payee, shares, worth, amount: whole === 0n ? 0n : (left * weight) / whole }
      })
      .sort((a, b) => (a.payee < b.payee ? -1 : 1))
    const rest = parts.reduce((rest, { amount }) => rest - amount, left)
    return { fee: feeAmount, rest, parts }
  }
}

/** SOLO: the finder gets everything. */
export function divideSolo(reward: bigint, fee: Fraction, finder: WeightedShare): RewardSplit {
  const tally = new Tally()
  tally.add(finder.user, worthOf(finder), 1n)
  return tally.divide(reward, fee, 1n)
}

/** PROP: divides by the difficulties of the shares of a round, in any order. */
export async function divideProp(
  reward: bigint,
  fee: Fraction,
  round: AsyncIterable<WeightedShare> | Iterable<WeightedShare>,
): Promise<RewardSplit> {
  const tally = new Tally()
  for await (const share of round) tally.add(share.user, worthOf(share), difficultyUnits(share.difficulty))
  return tally.divide(reward, fee, tally.weight)
}

/**
 * PPLNS: counts the newest shares until they fill the window; the last one is cut to fit. Each gets reward x worth /
 * window. Shares before the window are not read.
 */
export async function dividePplns(
  reward: bigint,
  { fee, window }: Pick<DivisionTerms, 'fee' | 'window'>,
  newestFirst: AsyncIterable<WeightedShare> | Iterable<WeightedShare>,
): Promise<RewardSplit> {
  const tally = new Tally()
  const whole = (window.numerator * BLOCK_WORTH) / window.denominator
  for await (const share of newestFirst) {
    const left = whole - tally.weight
    const worth = worthOf(share)
    const counted = worth < left ? worth : left
    tally.add(share.user, counted, counted)
    if (tally.weight === whole) break
  }
  return tally.divide(reward, fee, whole)
}
