/** Formats times by directives (`%Y-%m-%d`), in English and UTC. */
import { type CalendarDate, dateOf, isoWeekOf } from './calendar.ts'
import { isoMicros, isoSeconds } from './iso-time.ts'
import { COMPOUND, MONTHS, WEEKDAYS } from './time-names.ts'
import type { Time } from './value.ts'

export { parseTime } from './time-parse.ts'

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
  const written = (directive: string, letter: string): string => {
    if (Object.hasOwn(COMPOUND, letter)) return COMPOUND[letter].replace(DIRECTIVE, written)
    return Object.hasOwn(DIRECTIVES, letter) ? DIRECTIVES[letter](parts) : directive.replace(/[-_0^#]+/, '')
  }
  return format.replace(DIRECTIVE, written)
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
