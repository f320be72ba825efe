/** Proleptic Gregorian calendar without limits in either direction. Days count from 1970-01-01. */

const DAYS_IN_400_YEARS = 146097n
/** Days from 0000-01-01 to 1970-01-01. */
const DAYS_BEFORE_1970 = 719528
const MONTH_STARTS = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365]
const MONTH_STARTS_LEAP = MONTH_STARTS.map((start, month) => (month > 1 ? start + 1 : start))

/** A date with its derived fields. */
export interface CalendarDate {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  /** 1 to 31. */
  readonly day: number
  /** 1 to 366. */
  readonly dayOfYear: number
  /** 0 (Sunday) to 6. */
  readonly weekday: number
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

/** Days from 0000-01-01 to the first day of a year. */
function daysBefore(year: number): number {
  return 365 * year + Math.floor((year + 3) / 4) - Math.floor((year + 99) / 100) + Math.floor((year + 399) / 400)
}

function monthStarts(year: number): readonly number[] {
  return isLeap(year) ? MONTH_STARTS_LEAP : MONTH_STARTS
}

/** Converts a day number to a date. */
export function dateOf(days: bigint): CalendarDate {
  const since0 = days + BigInt(DAYS_BEFORE_1970)
  let cycle = since0 / DAYS_IN_400_YEARS
  if (cycle * DAYS_IN_400_YEARS > since0) cycle--
  const rest = Number(since0 - cycle * DAYS_IN_400_YEARS)
  let year = Math.floor(rest / 365.2425)
  while (daysBefore(year + 1) <= rest) year++
  while (daysBefore(year) > rest) year--
  const dayOfYear = rest - daysBefore(year)
  const starts = monthStarts(year)
  let month = 1
  while (starts[month] <= dayOfYear) month++
  return {
    year: 400 * Number(cycle) + year,
    month,
    day: dayOfYear - starts[month - 1] + 1,
    dayOfYear: dayOfYear + 1,
    // 0000-01-01 was a Saturday, and 400 years are whole weeks.
    weekday: (rest + 6) % 7,
  }
}

/** Converts a date to a day number; clamps an out-of-range month or day to the nearest valid one. */
export function daysOfDate(year: number, month: number, day: number): number {
  const starts = monthStarts(year)
  const inRange = clip(month, 1, 12)
  return daysOfYearDay(year, starts[inRange - 1] + clip(day, 1, starts[inRange] - starts[inRange - 1]))
}

/** Converts a year and a day of that year (from 1) to a day number; clamps an out-of-range day. */
export function daysOfYearDay(year: number, dayOfYear: number): number {
  return daysBefore(year) - DAYS_BEFORE_1970 + clip(dayOfYear, 1, isLeap(year) ? 366 : 365) - 1
}

/** Weekday of a day number: 0 (Sunday) to 6. */
export function weekdayOf(days: number): number {
  return (((days + 4) % 7) + 7) % 7
}

/** ISO 8601 year and week of a day. A week belongs to the year that contains its Thursday. */
export function isoWeekOf(days: bigint): readonly [year: number, week: number] {
  const fromMonday = (dateOf(days).weekday + 6) % 7
  const thursday = dateOf(days + BigInt(3 - fromMonday))
  return [thursday.year, Math.floor((thursday.dayOfYear - 1) / 7) + 1]
}

/**
 * Converts an ISO 8601 week date to a day number; clamps out-of-range parts.
 * @param weekday 1 (Monday) to 7
 */
export function daysOfIsoWeek(year: number, week: number, weekday: number): number {
  const fourth = daysOfDate(year, 1, 4)
  const monday = fourth - ((weekdayOf(fourth) + 6) % 7)
  const [, last] = isoWeekOf(BigInt(daysOfDate(year, 12, 28)))
  return monday + 7 * (clip(week, 1, last) - 1) + clip(weekday, 1, 7) - 1
}

function clip(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value))
}
