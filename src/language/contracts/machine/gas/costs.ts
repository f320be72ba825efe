/**
 * Work that bounds the time of a command, and hard limits. A unit of work takes about 7 ns, so 150,000 gas allow a
 * second of it.
 *
 * Work is not gas: a command pays the prices of the public network (`prices.ts`). Some of them are lower than the time
 * that an operation takes here.
 */
import { logarithm2, MAX_BITS } from '../../values/bits.ts'

export const COST = {
  /** Operation on integers of at most `SMALL_BITS`. */
  integer: 30,
  /** Per character of a new string. */
  textCharacter: 2,
  /** Per character of a string that is only read. */
  readCharacter: 2,
  /** Per element of a new list. */
  listElement: 2,
  /** Per element of a list that is only scanned. */
  readElement: 10,
  /** Comparison, in addition to the work by size. */
  compare: 10,
  /** Per comparison while sorting. */
  sortStep: 25,
  /** Per unit of weight (see values/size.ts) of a value that is walked. */
  weight: 1,
  /** Per byte hashed. */
  hashByte: 5,
  /** sqrt, ln, log, exp and powers with fractional exponents. */
  transcendental: 5000,
} as const

/** Maximum weight of a value as a tree (see values/size.ts), about its number of printed characters. */
const WEIGHT = 5_000_000

/**
 * Hard limits, whatever the gas limit: larger values would make single operations slow or exhaust the memory.
 *
 * Lists and strings at their own limits stay within the weight limit, so the output of one native is valid input of
 * another.
 */
export const LIMIT = {
  elements: WEIGHT / 12.5,
  characters: WEIGHT - 1000,
  bits: MAX_BITS,
  weight: WEIGHT,
  /** Maximum nesting; the parser has the same limit. */
  depth: 250,
  /** Characters that `str-to-int` accepts; a rule of the language. */
  digits: 512,
  /** Characters of a time format, and of a text that is parsed by one. */
  timeFormat: 1_000,
} as const

const SMALL_BITS = 664

/** Fractional bit length (log2 of the magnitude), to predict the size of powers; 0 for 0 and 1. */
export function exactBits(n: bigint): number {
  return n === 0n ? 0 : logarithm2(n < 0n ? -n : n)
}

/** Cost of addition, subtraction and bit operations. */
export function integerCost(bits: number): number {
  return bits <= SMALL_BITS ? COST.integer : Math.max(COST.integer, Math.ceil((bits * bits) / 6400))
}

/** Cost of multiplication and division. */
export function productCost(bits: number): number {
  return bits <= SMALL_BITS ? 26 + Math.floor((3 * bits) / 20) : Math.ceil((bits * bits) / 6400)
}

/** Cost of powers and shifts whose result has `bits` bits. */
export function growthCost(bits: number): number {
  return productCost(bits) + Math.ceil(bits / 100)
}

/** Cost of sorting `count` elements. */
export function sortCost(count: number): number {
  return Math.ceil(count * Math.log2(count + 1)) * COST.sortStep
}

export function hashCost(bytes: number): number {
  return COST.hashByte * bytes
}
