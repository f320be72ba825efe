/** Samples, their summary, the JSON report of a run, and the comparison of two reports. */
import { cpus, totalmem } from 'node:os'

/** One row. Its `samples` were taken in turn with those of the other rows of its suite. */
export interface Row {
  readonly suite: string
  readonly name: string
  readonly unit: Unit
  readonly samples: readonly number[]
  /** The row this one is compared with, and the ratios sample by sample. */
  readonly relative?: { readonly to: string; readonly ratios: readonly number[] }
  /** Shown beside the figures. */
  readonly note?: string
  /** Of what was computed; known before, and compared. */
  readonly checksum?: string
}

/** More is better for rates and parts, less for times, sizes, traffic, shares that are refused, instructions, power and temperature. */
export type Unit =
  | ('MH/s' | '1/s' | 'ms' | '%' | 'MiB' | 'B')
  | ('shares' | 'lines/s' | 'B/s' | 'instructions' | 'W' | '°C')
const LESS_IS_BETTER: readonly Unit[] = ['ms', 'MiB', 'B', 'shares', 'lines/s', 'B/s', 'instructions', 'W', '°C']
/** These are counted, not measured: they have no noise. */
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

/** The smallest of `values` that this share of them does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)]
}

/** Ratios of two rows measured in turn. */
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
    results: rows.map(({ suite, name, unit, samples, relative, note, checksum }) => ({
      suite,
      name,
      unit,
      median: rounded(median(samples)),
      min: rounded(Math.min(...samples)),
      max: rounded(Math.max(...samples)),
      samples: samples.length,
      ...(relative && { ratio: { to: relative.to, median: rounded(median(relative.ratios)) } }),
      ...(note !== undefined && { note }),
      ...(checksum !== undefined && { checksum }),
    })),
  }
}

/** Four significant digits: more would be noise. */
function rounded(value: number): number {
  return Number(value.toPrecision(4))
}

/** The rows of a suite as lines of a table. */
export function tableOf(results: readonly Result[]): string[] {
  const cells = results.map(({ name, unit, median: middle, min, max, samples, ratio, note, checksum }) => [
    name,
    `${figure(middle)} ${unit}`,
    `${figure(min)} to ${figure(max)}`,
    `n=${samples}`,
    ratio === undefined ? '' : `${figure(ratio.median)} x ${ratio.to}`,
    note ?? (checksum === undefined ? '' : `checksum ${checksum}`),
  ])
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column].length))) ?? []
  return cells.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column])).join('  ')}`.trimEnd())
}

function figure(value: number): string {
  if (value >= 1e5) return Math.round(value).toLocaleString('en')
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toPrecision(3)
}

export interface Comparison {
  readonly lines: readonly string[]
  /** Rows that got worse by more than the noise. */
  readonly regressions: readonly string[]
}

/** Changes below this are noise on any machine, but for what is counted. */
const MIN_BAND = 0.05

/**
 * Each row against the same row of an earlier report. Ratios measured within a run are compared where both have them,
 * since they hold when the machine is slower today; else medians. The band is the spread of the two runs, at least 5 %:
 * faster or slower by less is noise. Counts have none.
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
    // So much slower is as far from before as so much faster: no spread is so wide that nothing could be worse.
    const verdict = gain * (1 + band) < 1 ? 'WORSE' : gain > 1 + band ? 'better' : 'same'
    const label = `${result.suite} ${result.name}`
    lines.push(`  ${label.padEnd(36)} ${change.toFixed(3)} x  (noise ±${(100 * band).toFixed(0)} %)  ${verdict}`)
    if (verdict === 'WORSE') regressions.push(label)
  }
  return { lines, regressions }
}

/** Half the distance from lowest to highest sample, as a share of the median. */
function spread({ min, max, median: middle }: Result): number {
  return middle === 0 ? 0 : (max - min) / (2 * middle)
}
