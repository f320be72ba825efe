/** Formats numbers, times and hashes for pages: three digits, SI prefixes, thin spaces before units. */
import { formatDuration, formatHashrate } from '#ground/base/units.ts'

const THIN = '\u202f'
export const NONE = '–'

/** `1.21 GH/s`, or a dash if unknown. */
export function rateText(hashesPerSecond: number | null): string {
  return hashesPerSecond === null ? NONE : rateParts(hashesPerSecond).join(THIN)
}

/** A hashrate as number and unit. */
export function rateParts(hashesPerSecond: number): readonly [string, string] {
  const [number, unit] = formatHashrate(hashesPerSecond).split(' ')
  return [number, unit]
}

/** Difficulty in hashes per block: `1.21 PH`. */
export function difficultyText(hashes: number | null): string {
  return hashes === null ? NONE : rateParts(hashes).join(THIN).replace('H/s', 'H')
}

/** `1,234,567` */
export const groupDigits = (value: number) => value.toLocaleString('en')

/** A shortened hash. Show the whole hash as title. */
export const hashStart = (hash: string) => `${hash.slice(0, 8)}…`

/** A duration in whole seconds. */
export function spanText(milliseconds: number): string {
  return formatDuration(milliseconds < 1000 ? milliseconds : Math.round(milliseconds / 1000) * 1000)
}

/** An age in whole seconds. */
export function ageText(milliseconds: number): string {
  return milliseconds < 1000 ? '0 s' : spanText(Math.floor(milliseconds / 1000) * 1000)
}

/** `2 d 3 h`, `3 h 5 m`, `12 m 30 s`. */
export function uptimeText(milliseconds: number): string {
  const hours = Math.floor(milliseconds / 3_600_000)
  if (hours < 48) return spanText(milliseconds)
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** All decimals of an amount of coins, without trailing zeros: `1,234,567.8901`. */
export function tidyCoins(text: string): string {
  const [whole, fraction = ''] = text.split('.')
  const rest = fraction.replace(/0+$/, '')
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${rest === '' ? '' : `.${rest}`}`
}

/** Coins with at most four decimals, without trailing zeros. */
export function briefCoins(amount: string | null): string {
  if (amount === null) return NONE
  const [whole, fraction = ''] = amount.split('.')
  const rest = fraction.slice(0, 4).replace(/0+$/, '')
  return rest === '' ? whole : `${whole}.${rest}`
}

/** `12:34:56` in the browser's time zone. */
export function timeOfDay(unixMs: number): string {
  return new Date(unixMs).toLocaleTimeString('en-GB', { hour12: false })
}

/** `14:05`, or `24 Nov 14:05` if not today. */
export function dayAndTime(unixMs: number, nowMs: number): string {
  const at = new Date(unixMs)
  const time = timeOfDay(unixMs)
  if (at.toDateString() === new Date(nowMs).toDateString()) return time
  return `${at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })} ${time.slice(0, 5)}`
}
