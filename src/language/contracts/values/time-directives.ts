/** Directives that `parse-time` understands. */
import type { TimeFields } from './time-fields.ts'
import { COMPOUND, MONTHS, WEEKDAYS } from './time-names.ts'
import {
  fraction,
  fullYear,
  literal,
  number,
  offset,
  optionalFraction,
  posix,
  skipSpace,
  type TimeDirectives,
  word,
  zone,
} from './time-steps.ts'

/**
 * Compiles a format into directives and expands compound ones.
 * @returns null if the format contains an unknown directive
 */
export function directivesOf(format: string): TimeDirectives[] | null {
  const steps: TimeDirectives[] = [[skipSpace]]
  for (const [piece, , letter] of format.matchAll(/%([-_0]*)(.?)|\s+|./gsu)) {
    if (!piece.startsWith('%')) steps.push([/^\s/.test(piece) ? skipSpace : literal(piece)])
    else if (Object.hasOwn(COMPOUND, letter)) steps.push(...(directivesOf(COMPOUND[letter]) ?? []))
    else if (Object.hasOwn(DIRECTIVES, letter)) steps.push(DIRECTIVES[letter])
    else return null
  }
  return steps
}

const setHour = (fields: TimeFields, hour: number) => Object.assign(fields, { hour, isTwelveHour: false })
const setHour12 = (fields: TimeFields, hour: number) => Object.assign(fields, { hour, isTwelveHour: true })
const setWeekday = (fields: TimeFields, weekday: number) => Object.assign(fields, { weekday })
const setYearOfCentury = (fields: TimeFields, yearOfCentury: number) => Object.assign(fields, { yearOfCentury })
const setCentury = (fields: TimeFields, century: number) => Object.assign(fields, { century })
const setMonth = (fields: TimeFields, month: number) => {
  fields.month = month
  fields.dateBy.date = true
}
const setDay = (fields: TimeFields, day: number) => {
  fields.day = day
  fields.dateBy.date = true
}
/** Wraps a setter; also marks the date as given by weeks. */
const byWeek = (way: 'iso' | 'sunday' | 'monday', put: (fields: TimeFields, value: number) => void) => {
  return (fields: TimeFields, value: number) => {
    fields.dateBy[way] = true
    put(fields, value)
  }
}
const setWeek = (fields: TimeFields, week: number) => Object.assign(fields, { week })
const shortNames = (names: readonly string[]) => names.map((name) => name.slice(0, 3))
const shortMonth: TimeDirectives = [word(shortNames(MONTHS), (fields, index) => setMonth(fields, index + 1))]
const dayHalf: TimeDirectives = [
  word(['AM', 'PM'], (fields, index) => Object.assign(fields, { isTwelveHour: true, isAfternoon: index === 1 })),
]

const DIRECTIVES: Readonly<Record<string, TimeDirectives>> = {
  P: dayHalf,
  p: dayHalf,
  H: [number(2, setHour)],
  I: [number(2, setHour12)],
  k: [number(2, setHour, true), number(1, setHour, true)],
  l: [number(2, setHour12, true), number(1, setHour12, true)],
  M: [number(2, (fields, minute) => Object.assign(fields, { minute }))],
  S: [number(2, (fields, second) => Object.assign(fields, { second }))],
  q: [fraction],
  v: [fraction],
  Q: [optionalFraction],
  Y: fullYear(false),
  y: [number(2, setYearOfCentury)],
  C: [number(2, setCentury)],
  B: [word(MONTHS, (fields, index) => setMonth(fields, index + 1))],
  b: shortMonth,
  h: shortMonth,
  m: [number(2, setMonth)],
  d: [number(2, setDay)],
  e: [number(2, setDay, true), number(1, setDay, true)],
  j: [
    number(3, (fields, dayOfYear) => {
      fields.dayOfYear = dayOfYear
      fields.dateBy.ordinal = true
    }),
  ],
  G: fullYear(true),
  g: [number(2, byWeek('iso', setYearOfCentury))],
  f: [number(2, byWeek('iso', setCentury))],
  V: [number(2, byWeek('iso', setWeek))],
  U: [number(2, byWeek('sunday', setWeek))],
  W: [number(2, byWeek('monday', setWeek))],
  w: [number(1, setWeekday)],
  u: [number(1, setWeekday)],
  A: [word(WEEKDAYS, setWeekday)],
  a: [word(shortNames(WEEKDAYS), setWeekday)],
  z: [offset],
  N: [offset],
  Z: [zone],
  s: [posix],
  '%': [literal('%')],
}
