/** Times as ISO 8601 text. Results and events may hold many of them, so this is faster than the general formatter. */
import { formatTime, ISO_MICROS, ISO_SECONDS } from './time-text.ts'
import type { Time } from './value.ts'

/** Times between the first moments of the years 1000 and 10000, in microseconds. */
const FIRST = -30_610_224_000_000_000n
const END = 253_402_300_800_000_000n
const SECONDS_LENGTH = 'YYYY-MM-DDTHH:MM:SS'.length

/** Text to the second: `2026-11-27T04:30:00Z`. */
export function isoSeconds(time: Time): string {
  const text = dateText(time)
  return text === null ? formatTime(ISO_SECONDS, time) : `${text}Z`
}

/** Text to the microsecond: `2026-11-27T04:30:00.000001Z`. */
export function isoMicros(time: Time): string {
  const text = dateText(time)
  if (text === null) return formatTime(ISO_MICROS, time)
  const micros = ((time.micros % 1_000_000n) + 1_000_000n) % 1_000_000n
  return `${text}.${micros.toString().padStart(6, '0')}Z`
}

/** @returns date and time to the second, or null outside of the years with four digits */
function dateText({ micros }: Time): string | null {
  if (micros < FIRST || micros >= END) return null
  // A millisecond has no part of the next second: round down.
  const millis = Number(micros / 1000n) - (micros < 0n && micros % 1000n !== 0n ? 1 : 0)
  return new Date(millis).toISOString().slice(0, SECONDS_LENGTH)
}
