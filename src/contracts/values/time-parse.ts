/** Reads a time by a format of directives. */
import { daysOfDate, daysOfIsoWeek, daysOfYearDay, weekdayOf } from './calendar.ts'
import { COMPOUND, MONTHS, WEEKDAYS } from './time-names.ts'
import { Time } from './value.ts'

/** Years beyond these are no times: microseconds since 1970 fit 64 bits. */
const MAX_YEAR = 292_000
const MAX_SECONDS = 9_200_000_000_000n
/** Names of zones, longest first; all mean UTC. */
const UTC_NAMES = ['ZULU', 'GMT', 'UTC', 'UT1', 'UT', 'Z']

/** What is known of the time so far. */
interface Fields {
  century: number | null
  yearOfCentury: number
  month: number
  day: number
  dayOfYear: number
  week: number
  weekday: number
  hour: number
  isTwelveHour: boolean
  isAfternoon: boolean
  minute: number
  second: number
  micros: number
  /** Minutes east of UTC. */
  offset: number
  /** Seconds since 1970, which count alone. */
  posix: bigint | null
  /** Which way the date is given. */
  dateBy: { ordinal: boolean; date: boolean; iso: boolean; sunday: boolean; monday: boolean }
}

/** Reads one directive at a position: behind it, or -1 if it does not fit. */
type Step = (text: string, at: number, fields: Fields) => number
/** A directive, with the second way to read it where there are two. */
type Steps = readonly [Step] | readonly [Step, Step]

/** The time that a text gives by a format. Null: the text does not fit, or the format has an unknown directive. */
export function parseTime(format: string, text: string): Time | null {
  const steps = stepsOf(format)
  if (steps === null) return null
  // Where a directive can be read in two ways, the second waits here. What follows depends on the position alone.
  const waiting: { index: number; at: number; fields: Fields }[] = []
  const seen = new Set<number>()
  let state: { index: number; at: number; fields: Fields } | undefined = { index: 0, at: 0, fields: emptyFields() }
  let isSecondWay = false
  while (state !== undefined) {
    let { index, at } = state
    const { fields } = state
    while (index < steps.length && at >= 0) {
      const [first, second] = steps[index]
      if (second !== undefined && !isSecondWay) {
        const key = index * (text.length + 1) + at
        if (seen.has(key)) at = -1
        else waiting.push({ index, at, fields: { ...fields, dateBy: { ...fields.dateBy } } })
        seen.add(key)
      }
      if (at >= 0) at = (isSecondWay && second !== undefined ? second : first)(text, at, fields)
      isSecondWay = false
      index++
    }
    if (at >= 0 && /^\s*$/.test(text.slice(at))) return timeOf(fields)
    state = waiting.pop()
    isSecondWay = true
  }
  return null
}

function emptyFields(): Fields {
  return {
    century: null,
    yearOfCentury: 70,
    month: 1,
    day: 1,
    dayOfYear: 1,
    week: 1,
    weekday: 4,
    hour: 0,
    isTwelveHour: false,
    isAfternoon: false,
    minute: 0,
    second: 0,
    micros: 0,
    offset: 0,
    posix: null,
    dateBy: { ordinal: false, date: false, iso: false, sunday: false, monday: false },
  }
}

/** The time of the fields; numbers that are too large carry over, days beyond the end of a month are its last. */
function timeOf(fields: Fields): Time | null {
  if (fields.posix !== null) return new Time(fields.posix * 1_000_000n)
  const year = yearOf(fields)
  if (Math.abs(year) > MAX_YEAR) return null
  const minutes = 60 * hourOf(fields) + fields.minute - fields.offset
  const seconds = 86_400 * daysOf(fields, year) + 60 * minutes + fields.second
  return new Time(BigInt(seconds) * 1_000_000n + BigInt(fields.micros))
}

function yearOf({ century, yearOfCentury }: Fields): number {
  return 100 * (century ?? (yearOfCentury < 69 ? 20 : 19)) + yearOfCentury
}

function hourOf({ hour, isTwelveHour, isAfternoon }: Fields): number {
  if (!isTwelveHour) return hour
  if (!isAfternoon) return hour % 12
  return hour < 12 ? hour + 12 : hour
}

function daysOf({ dateBy, month, day, dayOfYear, week, weekday }: Fields, year: number): number {
  if (!dateBy.ordinal) {
    const fromSunday = weekday % 7
    const newYear = daysOfYearDay(year, 1)
    const first = weekdayOf(newYear)
    if (dateBy.date) return daysOfDate(year, month, day)
    if (dateBy.iso) return daysOfIsoWeek(year, week, fromSunday || 7)
    if (dateBy.sunday) return newYear + ((7 - first) % 7) + 7 * (week - 1) + fromSunday
    if (dateBy.monday) return newYear + ((8 - first) % 7) + 7 * (week - 1) + (fromSunday || 7) - 1
  }
  return daysOfYearDay(year, dayOfYear)
}

/** The directives of a format, compound ones resolved. Null: one of them is unknown. */
function stepsOf(format: string): Steps[] | null {
  const steps: Steps[] = [[skipSpace]]
  for (const [piece, , letter] of format.matchAll(/%([-_0]*)(.?)|\s+|./gsu)) {
    if (!piece.startsWith('%')) steps.push([/^\s/.test(piece) ? skipSpace : literal(piece)])
    else if (Object.hasOwn(COMPOUND, letter)) steps.push(...(stepsOf(COMPOUND[letter]) ?? []))
    else if (Object.hasOwn(DIRECTIVES, letter)) steps.push(DIRECTIVES[letter])
    else return null
  }
  return steps
}

function skipSpace(text: string, at: number): number {
  let end = at
  while (end < text.length && ' \t\n\v\f\r\u00a0'.includes(text[end])) end++
  return end
}

function literal(wanted: string): Step {
  return (text, at) => (text.startsWith(wanted, at) ? at + wanted.length : -1)
}

/** Takes so many characters, which begin with a number. */
function number(width: number, put: (fields: Fields, value: number) => void, spaced = false): Step {
  return (text, at, fields) => {
    const taken = text.slice(at, at + width)
    const digits = /^\d+/.exec(spaced ? taken.trimStart() : taken)
    if (taken.length < width || digits === null) return -1
    put(fields, Number(digits[0]))
    return at + width
  }
}

/** One of some words, in either case. */
function word(words: readonly string[], put: (fields: Fields, index: number) => void): Step {
  return (text, at, fields) => {
    const index = words.findIndex((one) => text.slice(at, at + one.length).toLowerCase() === one.toLowerCase())
    if (index < 0) return -1
    put(fields, index)
    return at + words[index].length
  }
}

/** A year of any length, else of four digits: `20101221` is then a year, a month and a day. */
function fullYear(isIso: boolean): Steps {
  const put = (fields: Fields, year: number) => {
    fields.century = Math.floor(year / 100)
    fields.yearOfCentury = year - 100 * fields.century
    if (isIso) fields.dateBy.iso = true
  }
  const greedy: Step = (text, at, fields) => {
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

/** A fraction of a second, rounded to microseconds. */
const fraction: Step = (text, at, fields) => {
  const end = digitsEnd(text, at)
  if (end === at) return -1
  fields.micros = Math.floor((Number(text.slice(at, end).slice(0, 7).padEnd(7, '0')) + 5) / 10)
  return end
}

const optionalFraction: Step = (text, at, fields) => {
  const end = text[at] === '.' ? fraction(text, at + 1, fields) : -1
  if (end < 0) fields.micros = 0
  return end < 0 ? at : end
}

const offset: Step = (text, at, fields) => {
  const match = /^([+-])(\d\d):?(\d\d)/.exec(text.slice(at, at + 6))
  if (match === null) return -1
  const minutes = 60 * Number(match[2]) + Number(match[3])
  fields.offset = match[1] === '-' ? -minutes : minutes
  return at + match[0].length
}

const zone: Step = (text, at, fields) => {
  const name = UTC_NAMES.find((one) => text.startsWith(one, at))
  if (name === undefined) return offset(text, at, fields)
  fields.offset = 0
  return at + name.length
}

const posix: Step = (text, at, fields) => {
  const match = /^-?\d{1,15}/.exec(text.slice(at, at + 16))
  if (match === null) return -1
  const seconds = BigInt(match[0])
  if (seconds > MAX_SECONDS || seconds < -MAX_SECONDS) return -1
  fields.posix = seconds
  return at + match[0].length
}

const setHour = (fields: Fields, hour: number) => Object.assign(fields, { hour, isTwelveHour: false })
const setHour12 = (fields: Fields, hour: number) => Object.assign(fields, { hour, isTwelveHour: true })
const setWeekday = (fields: Fields, weekday: number) => Object.assign(fields, { weekday })
const setYearOfCentury = (fields: Fields, yearOfCentury: number) => Object.assign(fields, { yearOfCentury })
const setCentury = (fields: Fields, century: number) => Object.assign(fields, { century })
const setMonth = (fields: Fields, month: number) => {
  fields.month = month
  fields.dateBy.date = true
}
const setDay = (fields: Fields, day: number) => {
  fields.day = day
  fields.dateBy.date = true
}
/** With a mark that the date is given by weeks. */
const byWeek = (way: 'iso' | 'sunday' | 'monday', put: (fields: Fields, value: number) => void) => {
  return (fields: Fields, value: number) => {
    fields.dateBy[way] = true
    put(fields, value)
  }
}
const setWeek = (fields: Fields, week: number) => Object.assign(fields, { week })
const shortNames = (names: readonly string[]) => names.map((name) => name.slice(0, 3))
const shortMonth: Steps = [word(shortNames(MONTHS), (fields, index) => setMonth(fields, index + 1))]
const dayHalf: Steps = [
  word(['AM', 'PM'], (fields, index) => Object.assign(fields, { isTwelveHour: true, isAfternoon: index === 1 })),
]

const DIRECTIVES: Readonly<Record<string, Steps>> = {
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
