/** Formats numbers for people. */

const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E', 'Z']

/** Three significant digits with an SI prefix: 61.2M, 100k, 950. */
export function withPrefix(value: number): string {
  if (!Number.isFinite(value)) return 'n/a'
  let scaled = Math.abs(value)
  let step = 0
  // From 999.5, rounding would give "1000".
  while (scaled >= 999.5 && step < PREFIXES.length - 1) {
    scaled /= 1000
    step++
  }
  const places = step === 0 && Number.isInteger(scaled) ? 0 : placesFor(scaled)
  return `${value < 0 ? '-' : ''}${scaled.toFixed(places)}${PREFIXES[step]}`
}

/** Decimal places of a number below 1,000 with three significant digits. */
function placesFor(scaled: number): number {
  if (scaled >= 99.95) return 0
  return scaled >= 9.995 ? 1 : 2
}

/** Formats a hashrate: `61.2 MH/s`, or `n/a` while there is not enough data. */
export function formatHashrate(hashesPerSecond: number | null): string {
  if (hashesPerSecond === null) return 'n/a'
  const text = withPrefix(hashesPerSecond)
  const prefix = /[a-zA-Z]$/.exec(text)?.[0] ?? ''
  return `${prefix === '' ? text : text.slice(0, -1)} ${prefix}H/s`
}

/** Formats a duration: `250 ms`, `1.5 s`, `12 m 30 s`, `3 h 5 m`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 10) return `${Number(milliseconds.toFixed(1))} ms`
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`
  const seconds = milliseconds / 1000
  if (seconds < 59.95) return `${Number(seconds.toFixed(1))} s`
  const total = Math.round(seconds)
  const [hours, minutes, rest] = [Math.floor(total / 3600), Math.floor((total % 3600) / 60), total % 60]
  if (hours > 0) return minutes > 0 ? `${hours} h ${minutes} m` : `${hours} h`
  return rest > 0 ? `${minutes} m ${rest} s` : `${minutes} m`
}

/** Formats energy as electricity meters do: `0.24 Wh`, `12.5 kWh`. */
export function formatEnergy(joules: number): string {
  const text = withPrefix(joules / 3600)
  const prefix = /[a-zA-Z]$/.exec(text)?.[0] ?? ''
  return `${prefix === '' ? text : text.slice(0, -1)} ${prefix}Wh`
}

/** Formats energy per million hashes with three significant digits: `0.0512 J/MH`. */
export function formatEfficiency(joulesPerMegahash: number): string {
  const text = joulesPerMegahash < 1 ? joulesPerMegahash.toPrecision(3) : withPrefix(joulesPerMegahash)
  const prefix = /[a-zA-Z]$/.exec(text)?.[0] ?? ''
  return `${prefix === '' ? text : text.slice(0, -1)} ${prefix}J/MH`
}
