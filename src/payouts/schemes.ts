/**
 * How the reward of a block is divided. Pure: the same shares give the same amounts.
 *
 * Everything is a whole number, so that sums are exact. Difficulties are counted in 2^-52 hashes: every double from 1 on
 * is a whole number of these. A share's worth in blocks is counted in 2^-96 blocks, rounded down for each share. Amounts
 * are counted in 10^-12 coins, rounded down for each payee; what is left over is the operator's.
 */
import type { ShareEntry } from '../accounts/share-store.ts'
import type { Fraction } from './coins.ts'
import { payeeOf } from './payee.ts'

/** The schemes by name. */
export const schemeNames = ['pplns', 'prop', 'solo'] as const
export type SchemeName = (typeof schemeNames)[number]

/** What is divided, and by what rule. */
export interface DivisionTerms {
  readonly scheme: SchemeName
  /** PPLNS: how many blocks the shares that are paid are worth together. */
  readonly window: Fraction
  /** Part of the reward that the operator takes first; from 0 to 1. */
  readonly fee: Fraction
}

/** What one payee gets for a block. */
export interface RewardPart {
  /** An account, or the user that names none. */
  readonly payee: string
  /** 10^-12 coins. */
  readonly amount: bigint
  /** How many shares it is for. */
  readonly shares: number
  /** Of these shares, in 2^-96 blocks. */
  readonly worth: bigint
}

/** The reward of a block, divided: `reward = fee + rest + all amounts`. */
export interface Division {
  readonly fee: bigint
  /** What rounding leaves, and for PPLNS what a window that is not full leaves. */
  readonly rest: bigint
  /** By payee, in the order of names. */
  readonly parts: readonly RewardPart[]
}

/** One block in the unit of worth. */
export const BLOCK_WORTH = 1n << 96n
const DIFFICULTY_UNITS = 2 ** 52

type Weighed = Pick<ShareEntry, 'user' | 'difficulty' | 'blockDifficulty'>

/** A difficulty in 2^-52 hashes; 0 for what is no difficulty. */
function difficultyUnits(difficulty: number): bigint {
  const units = difficulty * DIFFICULTY_UNITS
  return Number.isFinite(units) && difficulty > 0 ? BigInt(Math.trunc(units)) : 0n
}

/** Worth of a share in 2^-96 blocks. */
export function worthOf({ difficulty, blockDifficulty }: Weighed): bigint {
  const block = difficultyUnits(blockDifficulty)
  return block === 0n ? 0n : (difficultyUnits(difficulty) * BLOCK_WORTH) / block
}

interface PayeeSum {
  shares: number
  worth: bigint
  /** What the reward is divided by. */
  weight: bigint
}

/** Shares of payees, added up. */
class Tally {
  readonly #sums = new Map<string, PayeeSum>()
  /** Of all payees. */
  weight = 0n

  add(user: string, worth: bigint, weight: bigint): void {
    const payee = payeeOf(user)
    const sum = this.#sums.get(payee) ?? { shares: 0, worth: 0n, weight: 0n }
    this.#sums.set(payee, { shares: sum.shares + 1, worth: sum.worth + worth, weight: sum.weight + weight })
    this.weight += weight
  }

  /** `whole`: the weight that the whole reward is for. */
  divide(reward: bigint, fee: Fraction, whole: bigint): Division {
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

/** SOLO: the finder gets all. */
export function divideSolo(reward: bigint, fee: Fraction, finder: Weighed): Division {
  const tally = new Tally()
  tally.add(finder.user, worthOf(finder), 1n)
  return tally.divide(reward, fee, 1n)
}

/** PROP: by the difficulties of the shares of a round, in any order. */
export async function divideProp(
  reward: bigint,
  fee: Fraction,
  round: AsyncIterable<Weighed> | Iterable<Weighed>,
): Promise<Division> {
  const tally = new Tally()
  for await (const share of round) tally.add(share.user, worthOf(share), difficultyUnits(share.difficulty))
  return tally.divide(reward, fee, tally.weight)
}

/**
 * PPLNS: newest shares first, until they are worth the window; the last one is cut to fit. Each gets reward x worth /
 * window. Shares behind the window are not read.
 */
export async function dividePplns(
  reward: bigint,
  { fee, window }: Pick<DivisionTerms, 'fee' | 'window'>,
  newestFirst: AsyncIterable<Weighed> | Iterable<Weighed>,
): Promise<Division> {
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
