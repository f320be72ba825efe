/** Reads and writes times by directives (`%Y-%m-%d`), in English and UTC. */
import { type CalendarDate, dateOf, isoWeekOf } from './calendar.ts'
import { directivesOf } from './time-directives.ts'
import { emptyFields, timeFromFields } from './time-fields.ts'
import { COMPOUND, MONTHS, WEEKDAYS } from './time-names.ts'
import type { TimeDirectives } from './time-steps.ts'
import type { Time } from './value.ts'

/** Format of `time` and of times on the wire, to the second. */
export const ISO_SECONDS = '%Y-%m-%dT%H:%M:%SZ'
/** The same to the microsecond. */
export const ISO_MICROS = '%Y-%m-%dT%H:%M:%S.%vZ'

const MICROS_A_SECOND = 1_000_000n
const MICROS_A_DAY = 86_400n * MICROS_A_SECOND

/** A time split into its fields. */
interface TimeParts extends CalendarDate {
  readonly days: bigint
  readonly hour: number
  readonly minute: number
  readonly second: number
  /** Microseconds within the second. */
  readonly micros: number
  /** Microseconds since 1970. */
  readonly time: bigint
}

const DIRECTIVES: Readonly<Record<string, (parts: TimeParts) => string>> = {
  Y: ({ year }) => yearText(year),
  y: ({ year }) => zeros(modulo(year, 100), 2),
  C: ({ year }) => zeros(Math.floor(year / 100), 2),
  m: ({ month }) => zeros(month, 2),
  B: ({ month }) => MONTHS[month - 1],
  b: ({ month }) => MONTHS[month - 1].slice(0, 3),
  h: ({ month }) => MONTHS[month - 1].slice(0, 3),
  d: ({ day }) => zeros(day, 2),
  e: ({ day }) => spaces(day),
  j: ({ dayOfYear }) => zeros(dayOfYear, 3),
  A: ({ weekday }) => WEEKDAYS[weekday],
  a: ({ weekday }) => WEEKDAYS[weekday].slice(0, 3),
  u: ({ weekday }) => `${weekday === 0 ? 7 : weekday}`,
  w: ({ weekday }) => `${weekday}`,
  U: ({ dayOfYear, weekday }) => zeros(Math.floor((dayOfYear + 6 - weekday) / 7), 2),
  W: ({ dayOfYear, weekday }) => zeros(Math.floor((dayOfYear + 6 - ((weekday + 6) % 7)) / 7), 2),
  G: ({ days }) => yearText(isoWeekOf(days)[0]),
  g: ({ days }) => zeros(modulo(isoWeekOf(days)[0], 100), 2),
  f: ({ days }) => zeros(Math.floor(isoWeekOf(days)[0] / 100), 2),
  V: ({ days }) => zeros(isoWeekOf(days)[1], 2),
  H: ({ hour }) => zeros(hour, 2),
  k: ({ hour }) => spaces(hour),
  I: ({ hour }) => zeros(hour % 12 || 12, 2),
  l: ({ hour }) => spaces(hour % 12 || 12),
  p: ({ hour }) => (hour < 12 ? 'AM' : 'PM'),
  P: ({ hour }) => (hour < 12 ? 'am' : 'pm'),
  M: ({ minute }) => zeros(minute, 2),
  S: ({ second }) => zeros(second, 2),
  v: ({ micros }) => zeros(micros, 6),
  q: ({ micros }) => `${zeros(micros, 6)}000000`,
  Q: ({ micros }) => (micros === 0 ? '' : `.${zeros(micros, 6).replace(/0+$/, '')}`),
  s: ({ time }) => `${time / MICROS_A_SECOND}`,
  z: () => '+0000',
  N: () => '+00:00',
  Z: () => 'UTC',
  '%': () => '%',
}

/** Formats a time. Unknown directives stay as they are; flags between `%` and the letter have no effect. */
export function formatTime(format: string, time: Time): string {
  if (format === ISO_SECONDS) return isoSeconds(time)
  if (format === ISO_MICROS) return isoMicros(time)
  const parts = partsOf(time)
  const writeDirective = (directive: string, letter: string): string => {
    if (Object.hasOwn(COMPOUND, letter)) return COMPOUND[letter].replace(DIRECTIVE, writeDirective)
    return Object.hasOwn(DIRECTIVES, letter) ? DIRECTIVES[letter](parts) : directive.replace(/[-_0^#]+/, '')
  }
  return format.replace(DIRECTIVE, writeDirective)
}

const DIRECTIVE = /%[-_0^#]*([^-_0^#])/gsu

function partsOf({ micros: time }: Time): TimeParts {
  let days = time / MICROS_A_DAY
  if (days * MICROS_A_DAY > time) days--
  const ofDay = Number(time - days * MICROS_A_DAY)
  const seconds = Math.floor(ofDay / 1e6)
  return {
    ...dateOf(days),
    days,
    hour: Math.floor(seconds / 3600),
    minute: Math.floor(seconds / 60) % 60,
    second: seconds % 60,
    micros: ofDay % 1e6,
    time,
  }
}

function yearText(year: number): string {
  return year < 0 ? `-${zeros(-year, 4)}` : zeros(year, 4)
}

function zeros(value: number, width: number): string {
  return `${value}`.padStart(width, '0')
}

function spaces(value: number): string {
  return `${value}`.padStart(2, ' ')
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}

// The ISO formats of the wire, which results hold by the thousand, have a writer of their own.

/** Days from the first of March of the year 0 to 1970. */
const DAYS_BEFORE_1970 = 719_468
const DAYS_IN_400_YEARS = 146_097

/** Text to the second: `2026-11-27T04:30:00Z`. */
export function isoSeconds(time: Time): string {
  return isoTime(time, false)
}

/** Text to the microsecond: `2026-11-27T04:30:00.000001Z`. */
export function isoMicros(time: Time): string {
  return isoTime(time, true)
}

function isoTime({ micros }: Time, withMicros: boolean): string {
  let days = micros / MICROS_A_DAY
  if (days * MICROS_A_DAY > micros) days--
  const ofDay = Number(micros - days * MICROS_A_DAY)
  const seconds = Math.floor(ofDay / 1e6)
  const [hour, minute, second] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const fraction = withMicros ? `.${String(ofDay % 1e6).padStart(6, '0')}` : ''
  return `${dateText(Number(days))}T${two(hour)}:${two(minute)}:${two(second)}${fraction}Z`
}

/** Years begin in March, so that a leap day is the last of its year. */
function dateText(daysSince1970: number): string {
  const days = daysSince1970 + DAYS_BEFORE_1970
  const cycle = Math.floor(days / DAYS_IN_400_YEARS)
  const rest = days - cycle * DAYS_IN_400_YEARS
  const year = Math.floor(
    (rest - Math.floor(rest / 1460) + Math.floor(rest / 36_524) - Math.floor(rest / 146_096)) / 365,
  )
  const ofYear = rest - (365 * year + Math.floor(year / 4) - Math.floor(year / 100))
  const fromMarch = Math.floor((5 * ofYear + 2) / 153)
  const day = ofYear - Math.floor((153 * fromMarch + 2) / 5) + 1
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
  return `${yearText(400 * cycle + year + (month <= 2 ? 1 : 0))}-${two(month)}-${two(day)}`
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value)
}

/** @returns null if the text does not match the format or the format has an unknown directive */
export function parseTime(format: string, text: string): Time | null {
  const steps = directivesOf(format)
  const ways = steps === null ? null : waysThrough(steps, text)
  if (steps === null || ways === null) return null
  const fields = emptyFields()
  let at = 0
  for (const [index, step] of steps.entries()) at = (step[ways[index]] ?? step[0])(text, at, fields)
  return timeFromFields(fields)
}

/**
 * Finds how to read each directive: 0 for its first way, 1 for its second. It searches positions only, so that fields
 * are read once. A way is tried once for each directive and position.
 * @returns null if the text does not match
 */
function waysThrough(steps: readonly TimeDirectives[], text: string): Uint8Array | null {
  const ways = new Uint8Array(steps.length)
  const isTried = triedPlaces(steps, text)
  /** Ambiguous directives that were read in their first way, and their positions. */
  const waiting: (readonly [index: number, at: number])[] = []
  const unused = emptyFields()
  let [index, at] = [0, 0]
  let isSecondWay = false
  for (;;) {
    while (index < steps.length && at >= 0) {
      const [first, second] = steps[index]
      if (second !== undefined && !isSecondWay) {
        if (isTried(index, at)) break
        waiting.push([index, at])
      }
      ways[index] = isSecondWay ? 1 : 0
      at = (isSecondWay && second !== undefined ? second : first)(text, at, unused)
      isSecondWay = false
      index++
    }
    if (index === steps.length && at >= 0 && /^\s*$/.test(text.slice(at))) return ways
    const next = waiting.pop()
    if (next === undefined) return null
    ;[index, at] = next
    isSecondWay = true
  }
}

/** A function that returns whether a directive with two ways was tried at a position, and notes that it is now. */
function triedPlaces(steps: readonly TimeDirectives[], text: string): (index: number, at: number) => boolean {
  let count = 0
  const rows = steps.map(([, second]) => (second === undefined ? -1 : count++))
  const tried = new Uint8Array(count * (text.length + 1))
  return (index, at) => {
    const place = rows[index] * (text.length + 1) + at
    if (tried[place] === 1) return true
    tried[place] = 1
    return false
  }
}
