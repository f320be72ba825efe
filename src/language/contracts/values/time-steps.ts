/** Parsers of single time directives. */
import type { TimeFields } from './time-fields.ts'

/** Times lie within this many seconds of 1970. */
const MAX_SECONDS = 9_200_000_000_000n
/** Names of time zones that mean UTC, longest first. */
const UTC_NAMES = ['ZULU', 'GMT', 'UTC', 'UT1', 'UT', 'Z']

/**
 * Reads one directive at a position.
 * @returns the position after it, or -1 if the text does not match
 */
export type TimeDirective = (text: string, at: number, fields: TimeFields) => number
/** A directive, with the fallback of an ambiguous one. */
export type TimeDirectives = readonly [TimeDirective] | readonly [TimeDirective, TimeDirective]

/** Skips any white space. */
export function skipSpace(text: string, at: number): number {
  let end = at
  while (end < text.length && ' \t\n\v\f\r\u00a0'.includes(text[end])) end++
  return end
}

/** Matches a literal text. */
export function literal(wanted: string): TimeDirective {
  return (text, at) => (text.startsWith(wanted, at) ? at + wanted.length : -1)
}

/** Consumes exactly `width` characters, which must begin with a number; `spaced` allows leading spaces. */
export function number(width: number, put: (fields: TimeFields, value: number) => void, spaced = false): TimeDirective {
  return (text, at, fields) => {
    const end = at + width
    if (end > text.length) return -1
    let from = at
    while (spaced && from < end && isSpace(text, from)) from++
    let [value, next] = [0, from]
    for (; next < end; next++) {
      const digit = text.charCodeAt(next) - ZERO
      if (digit < 0 || digit > 9) break
      value = 10 * value + digit
    }
    if (next === from) return -1
    put(fields, value)
    return end
  }
}

const ZERO = '0'.charCodeAt(0)

function isSpace(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit === 0x20 || (unit >= 9 && unit <= 13) || (unit > 0x7f && /\s/.test(text[at]))
}

/** Matches one of the words, ignoring case. */
export function word(words: readonly string[], put: (fields: TimeFields, index: number) => void): TimeDirective {
  return (text, at, fields) => {
    const index = words.findIndex((one) => text.slice(at, at + one.length).toLowerCase() === one.toLowerCase())
    if (index < 0) return -1
    put(fields, index)
    return at + words[index].length
  }
}

/** A year of any length, or else of four digits: `20101221` is a year, a month and a day. */
export function fullYear(isIso: boolean): TimeDirectives {
  const put = (fields: TimeFields, year: number) => {
    fields.century = Math.floor(year / 100)
    fields.yearOfCentury = year - 100 * fields.century
    if (isIso) fields.dateBy.iso = true
  }
  const greedy: TimeDirective = (text, at, fields) => {
    const end = digitsEnd(text, text[at] === '-' ? at + 1 : at)
    if (end === at || text[end - 1] === '-' || end - at > 9) return -1
    put(fields, Number(text.slice(at, end)))
    return end
  }
  return [greedy, number(4, put)]
}

function digitsEnd(text: string, at: number): number {
  let end = at
  while (text[end] >= '0' && text[end] <= '9') end++
  return end
}

/** Fraction of a second, rounded to microseconds. */
export const fraction: TimeDirective = (text, at, fields) => {
  const end = digitsEnd(text, at)
  if (end === at) return -1
  fields.micros = Math.floor((Number(text.slice(at, end).slice(0, 7).padEnd(7, '0')) + 5) / 10)
  return end
}

/** Optional point and fraction of a second. */
export const optionalFraction: TimeDirective = (text, at, fields) => {
  const end = text[at] === '.' ? fraction(text, at + 1, fields) : -1
  if (end < 0) fields.micros = 0
  return end < 0 ? at : end
}

/** `+hhmm` or `+hh:mm` east of UTC. */
export const offset: TimeDirective = (text, at, fields) => {
  const match = /^([+-])(\d\d):?(\d\d)/.exec(text.slice(at, at + 6))
  if (match === null) return -1
  const minutes = 60 * Number(match[2]) + Number(match[3])
  fields.offset = match[1] === '-' ? -minutes : minutes
  return at + match[0].length
}

/** A name of UTC, or an offset. */
export const zone: TimeDirective = (text, at, fields) => {
  const name = UTC_NAMES.find((one) => text.startsWith(one, at))
  if (name === undefined) return offset(text, at, fields)
  fields.offset = 0
  return at + name.length
}

/** Seconds since 1970. */
export const posix: TimeDirective = (text, at, fields) => {
  const match = /^-?\d{1,15}/.exec(text.slice(at, at + 16))
  if (match === null) return -1
  const seconds = BigInt(match[0])
  if (seconds > MAX_SECONDS || seconds < -MAX_SECONDS) return -1
  fields.posix = seconds
  return at + match[0].length
}
