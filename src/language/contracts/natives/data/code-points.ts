/** String operations by code point, the language's unit of characters. */

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** Index of the next character. */
function after(text: string, index: number): number {
  return isHigh(text.charCodeAt(index)) && isLow(text.charCodeAt(index + 1)) ? index + 2 : index + 1
}

/** Counts of the last long texts that are not ASCII. Code may ask for the same again and again. */
const counted: { readonly text: string; readonly count: number }[] = []
const MAX_REMEMBERED = 4
const LONG = 1000

/** Number of characters. */
export function codePoints(text: string): number {
  if (text.length <= SHORT) return countEach(text)
  const before = text.length < LONG ? undefined : counted.find((one) => one.text === text)
  if (before !== undefined) return before.count
  // One byte for each unit means ASCII.
  if (Buffer.byteLength(text) === text.length) return text.length
  if (text.length < LONG) return countEach(text)
  const count = countEach(text)
  counted.push({ text, count })
  if (counted.length > MAX_REMEMBERED) counted.shift()
  return count
}

const SHORT = 20

function countEach(text: string): number {
  let count = 0
  for (let i = 0; i < text.length; i = after(text, i)) count++
  return count
}

/** Characters `from` (inclusive, from 0) to `to` (exclusive; default: the end). */
export function partOfText(text: string, from: number, to?: number): string {
  let index = 0
  let count = 0
  for (; count < from && index < text.length; count++) index = after(text, index)
  if (to === undefined) return text.slice(index)
  const start = index
  for (; count < to && index < text.length; count++) index = after(text, index)
  return text.slice(start, index)
}
