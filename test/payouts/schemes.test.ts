import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Fraction, fractionOf, unitsOf } from '../../src/ground/base/coins.ts'
import type { ShareEntry } from '../../src/mining/accounts/share-store.ts'
import {
  BLOCK_WORTH,
  dividePplns,
  divideProp,
  divideSolo,
  type RewardSplit,
  worthOf,
} from '../../src/pool/payouts/schemes.ts'
import { accountOf, keyOf, share } from './memory-shares.ts'

const NO_FEE = { numerator: 0n, denominator: 1n }
const percent = (text: string): Fraction => {
  const { numerator, denominator } = fractionOf(text) as Fraction
  return { numerator, denominator: denominator * 100n }
}
const WINDOW = fractionOf('2.0') as Fraction
const coins = (text: string) => unitsOf(text) as bigint
const amounts = ({ parts }: RewardSplit) => Object.fromEntries(parts.map(({ payee, amount }) => [payee, amount]))
const of = (user: string, difficulty: number, blockDifficulty = 100) => share({ user, difficulty, blockDifficulty })

/** Fails if anyone reads past the last share. */
function* endOfReading(shares: readonly ShareEntry[]) {
  yield* shares
  throw new Error('read behind the window')
}

describe('SOLO', () => {
  it('SOLO gives all but the fee to the finder', () => {
    const division = divideSolo(coins('2.3'), percent('1.5'), of(keyOf('a'), 1))
    expect(division).toMatchObject({ fee: coins('0.0345'), rest: 0n })
    expect(amounts(division)).toEqual({ [accountOf('a')]: coins('2.2655') })
  })
})

describe('PROP', () => {
  it('PROP divides by difficulties, rounds down, and leaves the rest to the operator', async () => {
    const division = await divideProp(10n, NO_FEE, [of('a', 1), of('b', 1), of('c', 1)])
    expect(division).toMatchObject({ fee: 0n, rest: 1n })
    expect(amounts(division)).toEqual({ a: 3n, b: 3n, c: 3n })
  })

  it('PROP adds shares of a key to those of its account', async () => {
    const shares = [of(keyOf('a'), 1), of(accountOf('a'), 2), of(keyOf('A'), 3), of('b', 4)]
    const { parts } = await divideProp(coins('1'), NO_FEE, shares)
    expect(parts).toEqual([
      { payee: 'b', amount: coins('0.4'), shares: 1, worth: worthOf(of('b', 4)) },
      {
        payee: accountOf('a'),
        amount: coins('0.6'),
        shares: 3,
        worth: [1, 2, 3].reduce((sum, d) => sum + worthOf(of('a', d)), 0n),
      },
    ])
  })

  it('PROP adds difficulties exactly that doubles would round', async () => {
    // As doubles, the shares of a would add up to 2^53.
    const shares = [of('a', 2 ** 53), of('a', 1), of('b', 2 ** 53 + 2)]
    const division = await divideProp(2n ** 54n + 3n, NO_FEE, shares)
    expect(amounts(division)).toEqual({ a: 2n ** 53n + 1n, b: 2n ** 53n + 2n })
    expect(division.rest).toBe(0n)
  })

  it('PROP keeps the fractions of difficulties', async () => {
    const division = await divideProp(coins('1'), NO_FEE, [of('a', 1.25), of('b', 3.75)])
    expect(amounts(division)).toEqual({ a: coins('0.25'), b: coins('0.75') })
  })

  it('PROP gives nothing for an invalid difficulty', async () => {
    const shares = [of('a', Number.NaN), of('b', -1), of('c', Number.POSITIVE_INFINITY), of('d', 1)]
    expect(amounts(await divideProp(7n, NO_FEE, shares))).toEqual({ a: 0n, b: 0n, c: 0n, d: 7n })
    expect((await divideProp(7n, NO_FEE, [])).rest).toBe(7n)
  })
})

describe('PPLNS', () => {
  it('PPLNS fills the window with the newest shares, and cuts the last one', async () => {
    // Worth 0.5, 1 and 5 blocks: only 0.5 of the last one fit into a window of 2.
    const shares = endOfReading([of('a', 50), of('b', 100), of('c', 500)])
    const division = await dividePplns(coins('2'), { fee: NO_FEE, window: WINDOW }, shares)
    expect(amounts(division)).toEqual({ a: coins('0.5'), b: coins('1'), c: coins('0.5') })
    expect(division.rest).toBe(0n)
    expect(division.parts.map(({ worth }) => worth)).toEqual([BLOCK_WORTH / 2n, BLOCK_WORTH, BLOCK_WORTH / 2n])
  })

  it('PPLNS stops reading when a share fills the window exactly', async () => {
    const shares = endOfReading([of('a', 100), of('b', 100)])
    expect(amounts(await dividePplns(10n, { fee: NO_FEE, window: WINDOW }, shares))).toEqual({ a: 5n, b: 5n })
  })

  it('PPLNS weighs each share by the difficulty of its own block', async () => {
    const shares = [of('a', 100, 100), of('b', 100, 200), of('c', 100, 400)]
    const division = await dividePplns(coins('4'), { fee: NO_FEE, window: WINDOW }, shares)
    expect(amounts(division)).toEqual({ a: coins('2'), b: coins('1'), c: coins('0.5') })
  })

  it('PPLNS leaves the rest of a window that is not full to the operator', async () => {
    const division = await dividePplns(coins('2'), { fee: percent('10'), window: WINDOW }, [of('a', 100)])
    expect(division).toMatchObject({ fee: coins('0.2'), rest: coins('0.9') })
    expect(amounts(division)).toEqual({ a: coins('0.9') })
  })
})

describe('every division', () => {
  const shares = fc.array(
    fc.record({
      user: fc.constantFrom(keyOf('a'), keyOf('b'), accountOf('b'), keyOf('c'), 'nobody', ''),
      difficulty: fc.double({ min: 1, max: 2 ** 60, noNaN: true }),
      blockDifficulty: fc.double({ min: 1, max: 2 ** 70, noNaN: true }),
    }),
    { minLength: 1, maxLength: 60 },
  )
  const reward = fc.bigInt({ min: 0n, max: 10n ** 16n })
  const fee = fc.integer({ min: 0, max: 10_000 }).map((n) => ({ numerator: BigInt(n), denominator: 10_000n }))
  const window = fc.integer({ min: 1, max: 500 }).map((n) => ({ numerator: BigInt(n), denominator: 100n }))

  it('every division adds up to the reward, pays nobody a negative amount, and is deterministic', async () => {
    await fc.assert(
      fc.asyncProperty(reward, fee, window, shares, async (reward, fee, window, list) => {
        const entries = list.map((each) => share(each))
        for (const divide of [
          async () => divideSolo(reward, fee, entries[0]),
          () => divideProp(reward, fee, entries),
          () => dividePplns(reward, { fee, window }, entries),
        ]) {
          const division = await divide()
          const sum = division.parts.reduce((total, { amount }) => total + amount, 0n)
          expect(division.fee + division.rest + sum).toBe(reward)
          expect(
            [division.fee, division.rest, ...division.parts.map(({ amount }) => amount)].every((n) => n >= 0n),
          ).toBe(true)
          expect(await divide()).toEqual(division)
        }
      }),
    )
  })

  it('every division of PROP does not depend on the order of shares', async () => {
    await fc.assert(
      fc.asyncProperty(reward, fee, shares, async (reward, fee, list) => {
        const entries = list.map((each) => share(each))
        expect(await divideProp(reward, fee, entries.toReversed())).toEqual(await divideProp(reward, fee, entries))
      }),
    )
  })
})
