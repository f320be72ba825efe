/** Samples, their summary, the JSON report of a run, and the comparison of two reports. */
import { cpus, totalmem } from 'node:os'

/** A row. Its `samples` alternate with those of the suite's other rows. */
export interface Row {
  readonly suite: string
  readonly name: string
  readonly unit: Unit
  readonly samples: readonly number[]
  /** The reference row, and the ratios sample by sample. */
  readonly relative?: { readonly to: string; readonly ratios: readonly number[] }
  /** Energy in joules per million hashes, sample by sample; null if it cannot be read here. */
  readonly joulesPerMegahash?: readonly number[] | null
  /** Note beside the figures. */
  readonly note?: string
  /** Checksum of the computed results; known in advance and verified. */
  readonly checksum?: string
}

/**
 * Units. More is better for rates and shares, less for times, sizes, traffic, refused shares, instructions, power and
 * temperature.
 */
export type Unit =
  | ('MH/s' | '1/s' | 'ms' | '%' | 'MiB' | 'B')
  | ('shares' | 'lines/s' | 'B/s' | 'instructions' | 'operations/cycle' | 'W' | '°C')
const LESS_IS_BETTER: readonly Unit[] = ['ms', 'MiB', 'B', 'shares', 'lines/s', 'B/s', 'instructions', 'W', '°C']
/** Units of exact counts, without noise. */
const COUNTED: readonly Unit[] = ['instructions']

export interface Result {
  readonly suite: string
  readonly name: string
  readonly unit: Unit
  readonly median: number
  readonly min: number
  readonly max: number
  readonly samples: number
  readonly ratio?: { readonly to: string; readonly median: number }
  /** Median energy in joules per million hashes; null if it cannot be read here. */
  readonly joulesPerMegahash?: number | null
  readonly note?: string
  readonly checksum?: string
}

export interface Report {
  readonly machine: string
  readonly runtime: string
  readonly date: string
  readonly results: readonly Result[]
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** The smallest value that at least this share of `values` does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)]
}

/** Ratios of two alternating rows. */
export function relativeTo(to: string, mine: readonly number[], theirs: readonly number[]): Row['relative'] {
  return { to, ratios: mine.map((value, i) => value / theirs[i]) }
}

export function reportOf(rows: readonly Row[]): Report {
  const processors = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return {
    machine: `${processors[0]?.model.trim() ?? 'unknown processor'}, ${processors.length} cores, ${memory} GiB`,
    runtime: `node ${process.versions.node}, V8 ${process.versions.v8}, ${process.platform} ${process.arch}`,
    date: new Date().toISOString(),
    results: rows.map(({ suite, name, unit, samples, relative, joulesPerMegahash, note, checksum }) => ({
      suite,
      name,
      unit,
      median: roundDigits(median(samples)),
      min: roundDigits(Math.min(...samples)),
      max: roundDigits(Math.max(...samples)),
      samples: samples.length,
      ...(relative && { ratio: { to: relative.to, median: roundDigits(median(relative.ratios)) } }),
      ...(joulesPerMegahash !== undefined && { joulesPerMegahash: medianOf(joulesPerMegahash) }),
      ...(note !== undefined && { note }),
      ...(checksum !== undefined && { checksum }),
    })),
  }
}

const medianOf = (values: readonly number[] | null) => (values?.length ? roundDigits(median(values)) : null)

/** Rounds to four significant digits; more would be noise. */
function roundDigits(value: number): number {
  return Number(value.toPrecision(4))
}

/** Formats rows as a table. */
export function tableOf(results: readonly Result[]): string[] {
  const cells = results.map(({ name, unit, median: middle, min, max, samples, ratio, note, checksum, ...rest }) => [
    name,
    `${figure(middle)} ${unit}`,
    `${figure(min)} to ${figure(max)}`,
    `n=${samples}`,
    energyCell(rest.joulesPerMegahash),
    ratio === undefined ? '' : `${figure(ratio.median)} x ${ratio.to}`,
    note ?? (checksum === undefined ? '' : `checksum ${checksum}`),
  ])
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column].length))) ?? []
  const padded = cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column])))
  // Suites without energy have no column for it.
  return padded.map((row) => `  ${row.filter((_, column) => widths[column] > 0).join('  ')}`.trimEnd())
}

function energyCell(joulesPerMegahash: Result['joulesPerMegahash']): string {
  if (joulesPerMegahash === undefined) return ''
  return joulesPerMegahash === null ? '- J/MH' : `${joulesPerMegahash.toPrecision(3)} J/MH`
}

/** A figure with three digits, or all digits before the point. */
export function figure(value: number): string {
  if (value >= 1e5) return Math.round(value).toLocaleString('en')
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toPrecision(3)
}

export interface Comparison {
  readonly lines: readonly string[]
  /** Rows that are worse by more than the noise. */
  readonly regressions: readonly string[]
}

/** Minimum noise band, except for counts. */
const MIN_BAND = 0.05

/**
 * Compares each row with the same row of an earlier report. Uses ratios within a run where both reports have them,
 * because these hold on a slower day too; medians otherwise. The noise band is the spread of both runs, at least 5 %.
 * Counts have no noise.
 */
export function compareReports(now: Report, before: Report): Comparison {
  const lines: string[] = []
  const regressions: string[] = []
  for (const result of now.results) {
    const old = before.results.find(({ suite, name }) => suite === result.suite && name === result.name)
    if (old === undefined) continue
    const [mine, theirs] =
      result.ratio && old.ratio ? [result.ratio.median, old.ratio.median] : [result.median, old.median]
    const band = COUNTED.includes(result.unit) ? 0 : Math.max(MIN_BAND, spread(result), spread(old))
    const change = mine / theirs
    const gain = LESS_IS_BETTER.includes(result.unit) ? 1 / change : change
    // Symmetric ratios: however wide the spread, a result can still be worse.
    const verdict = gain * (1 + band) < 1 ? 'WORSE' : gain > 1 + band ? 'better' : 'same'
    const label = `${result.suite} ${result.name}`
    lines.push(`  ${label.padEnd(36)} ${change.toFixed(3)} x  (noise ±${(100 * band).toFixed(0)} %)  ${verdict}`)
    if (verdict === 'WORSE') regressions.push(label)
  }
  return { lines, regressions }
}

/** Half the range of the samples relative to their median. */
function spread({ min, max, median: middle }: Result): number {
  return middle === 0 ? 0 : (max - min) / (2 * middle)
}
