/**
 * Prices of the public network in milligas, exactly as it charges them (PROTOCOL.md E.5). `natives/prices.ts` has the flat
 * price of each native; these functions give what depends on the arguments.
 *
 * The gas that a command reports consists of these prices only. Charges that bound time here (`costs.ts`) go to a meter
 * of their own.
 */
import { bitLength } from '../../values/bits.ts'
import type { Decimal } from '../../values/decimal.ts'

export const PRICE = {
  /** Call of a function or lambda with parameters, and of every capability and pact. */
  call: 50,
  argument: 25,
  /** Flat price of most natives. */
  native: 100,
  /** Item of a literal, of a new list, and of a list that is handed to a function item by item. */
  item: 100,
  /** Character of a new text. */
  character: 100,
  /** Item or field whose type is checked. */
  typeCheck: 25,
  /** A comparison, in addition to its price by size. */
  comparison: 100,
  /** Access to a row, and `resume`, without what depends on the arguments. */
  read: 2500,
  resume: 500,
  readByte: 100,
  writeByte: 200,
  hashByte: 100,
  /** `try`, and `enforce-one` with at least one test. */
  attempt: 100,
  /** Natives that enforce a guard, or refer to a keyset. */
  guard: 2000,
  /** A granted capability when another one is required. */
  granted: 100,
  /** Principals: those without a hash, and the hash of those with one. */
  principal: 1000,
  /** A name that is parsed: each character, and once. */
  parsedCharacter: 5,
  parsed: 1,
} as const

/** The network computes with unsigned words that stay at their maximum. */
const MAXIMUM = 2 ** 64
/** Integers of more bits cost by the square of their size. */
const SMALL_BITS = 664

function saturate(milligas: number): number {
  return milligas < MAXIMUM ? milligas : MAXIMUM
}

/** Bits of an integer as the network counts them: 0 has one. */
function bitsOf(n: bigint): number {
  return n === 0n ? 1 : bitLength(n)
}

/** Bits of the larger operand. The network compares with the sign, so -1000 is smaller than 1. */
function bitsOfLarger(a: bigint, b: bigint): number {
  return bitsOf(a > b ? a : b)
}

/** Call with a number of arguments. */
export function callPrice(args: number): number {
  return PRICE.call + PRICE.argument * args
}

/** Addition and subtraction of integers, or of the mantissas of decimals. */
export function sumPrice(a: bigint, b: bigint): number {
  const bits = bitsOfLarger(a, b)
  return bits <= SMALL_BITS ? 30 : Math.floor((bits * bits) / 6400)
}

/** Multiplication and division. */
export function productPrice(a: bigint, b: bigint): number {
  const bits = bitsOfLarger(a, b)
  return bits <= SMALL_BITS ? linearPrice(bits) : Math.floor((bits * bits) / 6400)
}

function linearPrice(bits: number): number {
  return Math.floor((3 * bits) / 20) + 26
}

/** Powers: by the number of multiplications and the mean size of their operands. */
export function powerPrice(base: bigint, exponent: bigint): number {
  return growthPrice(bitsOf(base), bitsOf(exponent), 2)
}

/** `exp`, by the integral part of an integer or the mantissa of a decimal. */
export function exponentialPrice(exponent: bigint): number {
  return growthPrice(2, bitsOf(exponent), 2.5)
}

function growthPrice(baseBits: number, exponentBits: number, alpha: number): number {
  const multiplications = Math.max(0, 2 * exponentBits - 2)
  if (multiplications === 0) return 0
  const size = saturate(baseBits * Math.ceil(2 ** ((exponentBits - 1) / 2)))
  return saturate(multiplications * saturate(Math.ceil(size ** alpha)))
}

/** Shifts to the left; those to the right are free. */
export function shiftPrice(n: bigint, count: bigint): number {
  if (count <= 0n) return 0
  return saturate(powerPrice(2n, count) + Math.floor((3 * Math.max(bitsOf(n), Number(count))) / 20) + 26)
}

/** Square root, by the integer or the mantissa of a decimal. */
export function squareRootPrice(n: bigint): number {
  const bits = bitLength(n)
  return n <= 0n ? 0 : bits * logarithm(bits) * logarithmOfLogarithm(bits)
}

/** Natural logarithm, by the next integer. Other logarithms cost one for the base and one for the number. */
export function logarithmPrice(n: bigint): number {
  const bits = bitLength(n)
  return bits === 0 ? 0 : Math.max(0, bits * Math.ceil(Math.log(bits) ** 2) * logarithmOfLogarithm(bits))
}

function logarithm(bits: number): number {
  return Math.ceil(Math.log(bits))
}

/** The logarithm of one bit is 0, and the logarithm of 0 cancels out. */
function logarithmOfLogarithm(bits: number): number {
  return bits === 1 ? 0 : Math.ceil(Math.log(Math.log(bits)))
}

/** Look-up of a field in an object, or of a name in the data of the message. */
export function lookupPrice(name: string, fields: number): number {
  return bitsOf(BigInt(fields)) * countCharacters(name)
}

/** Parsing of a text, such as the name of a keyset. */
export function parsePrice(text: string): number {
  return PRICE.parsedCharacter * countCharacters(text) + PRICE.parsed
}

/** Comparison with a text: by the length of the first operand. */
export function textComparisonPrice(text: string): number {
  return countCharacters(text) + PRICE.comparison
}

export function integerComparisonPrice(a: bigint, b: bigint): number {
  return Math.max(wordBits(a), wordBits(b)) + PRICE.comparison
}

export function decimalComparisonPrice({ mantissa: a }: Decimal, { mantissa: b }: Decimal): number {
  return productPrice(a, b) + integerComparisonPrice(a, b)
}

const WORD_BITS = 64
const LARGEST_WORD = 2n ** 63n

/** Integers of a machine word count as 64 bits. */
function wordBits(n: bigint): number {
  return n >= -LARGEST_WORD && n < LARGEST_WORD ? WORD_BITS : bitLength(n)
}

/** Characters of a text are code points. */
export function countCharacters(text: string): number {
  let count = text.length
  for (let i = 1; i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) count--
  }
  return count
}

/** Bytes that the network stops to measure at, for the gas that is left: each costs at least this. */
export const SIZE_BYTE = 5
