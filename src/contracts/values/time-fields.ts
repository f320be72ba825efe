/** What a text says of a time, and the time that this makes. */
import { daysOfDate, daysOfIsoWeek, daysOfYearDay, weekdayOf } from './calendar.ts'
import { Time } from './value.ts'

/** Years beyond these are no times: microseconds since 1970 fit 64 bits. */
const MAX_YEAR = 292_000

/** What is known of the time so far. */
export interface Fields {
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

/** Nothing is known yet. */
export function emptyFields(): Fields {
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
export function timeOf(fields: Fields): Time | null {
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
