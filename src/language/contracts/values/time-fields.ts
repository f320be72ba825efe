/** Fields collected while a time is parsed, and the time they describe. */
import { daysOfDate, daysOfIsoWeek, daysOfYearDay, weekdayOf } from './calendar.ts'
import { Time } from './value.ts'

/** Years beyond this limit are refused: microseconds since 1970 must fit 64 bits. */
const MAX_YEAR = 292_000

/** Fields of the time, as far as the text has been read. */
export interface TimeFields {
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
  /** Seconds since 1970; if set, all other fields are ignored. */
  posix: bigint | null
  /** The way in which the text gives the date. */
  dateBy: { ordinal: boolean; date: boolean; iso: boolean; sunday: boolean; monday: boolean }
}

/** Defaults: 1970-01-01T00:00:00Z. */
export function emptyFields(): TimeFields {
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

/**
 * Converts the fields to a time. Excess hours, minutes and seconds carry over; a day after the end of the month becomes
 * its last day.
 * @returns null if the year is out of range
 */
export function timeFromFields(fields: TimeFields): Time | null {
  if (fields.posix !== null) return new Time(fields.posix * 1_000_000n)
  const year = yearOf(fields)
  if (Math.abs(year) > MAX_YEAR) return null
  const minutes = 60 * hourOf(fields) + fields.minute - fields.offset
  const seconds = 86_400 * daysOf(fields, year) + 60 * minutes + fields.second
  return new Time(BigInt(seconds) * 1_000_000n + BigInt(fields.micros))
}

function yearOf({ century, yearOfCentury }: TimeFields): number {
  return 100 * (century ?? (yearOfCentury < 69 ? 20 : 19)) + yearOfCentury
}

function hourOf({ hour, isTwelveHour, isAfternoon }: TimeFields): number {
  if (!isTwelveHour) return hour
  if (!isAfternoon) return hour % 12
  return hour < 12 ? hour + 12 : hour
}

function daysOf({ dateBy, month, day, dayOfYear, week, weekday }: TimeFields, year: number): number {
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
