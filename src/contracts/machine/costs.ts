/**
 * What work costs beyond the flat price of a call, in thousandths of gas, and what is refused at any price.
 *
 * Known from the public network: 30 for integer operations below 664 bits and bits^2 / 6400 above, 100 per character or
 * element of what is joined, 100 per element handed to a function. The rest is ours, in the same proportions.
 */
export const COST = {
  /** An operation on integers below `SMALL_BITS`. */
  integer: 30,
  /** Per character of a string that is made. */
  textCharacter: 100,
  /** Per character of a string that is only read. */
  readCharacter: 5,
  /** Per element of a list that is made. */
  listElement: 100,
  /** Per element of a list that is only looked through. */
  readElement: 10,
  /** Per element handed to a function, beside what the function costs. */
  visit: 100,
  /** A comparison, beside what it takes by the size. */
  compare: 100,
  /** Per comparison while sorting. */
  sortStep: 25,
  /** Per unit of weight (see weight.ts) of a value that is walked through. */
  weight: 1,
  /** Per byte hashed. */
  hashByte: 100,
  /** sqrt, ln, log, exp and powers that are not whole. */
  transcendental: 5000,
} as const

/** The most that a value may weigh, as a tree (see values/size.ts): about its characters in print. */
const WEIGHT = 5_000_000

/**
 * No value may pass these, whatever is paid: beyond them single steps would take long or much memory. What one native
 * may make, others may take: lists and strings at their limits are within the limit of weight.
 */
export const LIMIT = {
  elements: WEIGHT / 12.5,
  characters: WEIGHT - 1000,
  bits: 500_000,
  weight: WEIGHT,
  /** As deep as texts are read. */
  depth: 250,
  /** Characters that `str-to-int` reads; the rule of the language. */
  digits: 512,
  /** Characters of a format of times, and of a text that is read by one. */
  timeFormat: 1_000,
} as const

const SMALL_BITS = 664

/** Bits of the magnitude with a fraction, to tell how large a power will be; 0 for 0 and 1. */
export function exactBits(n: bigint): number {
  const hex = (n < 0n ? -n : n).toString(16)
  const head = hex.slice(0, 12)
  return n === 0n ? 0 : (hex.length - head.length) * 4 + Math.log2(Number.parseInt(head, 16))
}

/** Addition, subtraction, bit operations. */
export function integerCost(bits: number): number {
  return bits <= SMALL_BITS ? COST.integer : Math.max(COST.integer, Math.ceil((bits * bits) / 6400))
}

/** Multiplication and division. */
export function productCost(bits: number): number {
  return bits <= SMALL_BITS ? 26 + Math.floor((3 * bits) / 20) : Math.ceil((bits * bits) / 6400)
}

/** Powers and shifts, which make numbers of so many bits. */
export function growthCost(bits: number): number {
  return productCost(bits) + Math.ceil(bits / 100)
}

/** Sorting of so many elements. */
export function sortCost(count: number): number {
  return Math.ceil(count * Math.log2(count + 1)) * COST.sortStep
}

export function hashCost(bytes: number): number {
  return COST.hashByte * bytes
}
