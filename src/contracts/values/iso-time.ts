/** Writes times in the ISO formats of the wire, which results hold by the thousand. */
import type { Time } from './value.ts'

const MICROS_A_DAY = 86_400_000_000n
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

function yearText(year: number): string {
  return year < 0 ? `-${String(-year).padStart(4, '0')}` : String(year).padStart(4, '0')
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value)
}
