/** The report of `newcut rigs check` as lines. */
import { printable } from '#ground/base/printable.ts'
import { formatDuration } from '#ground/base/units.ts'
import { type RigKind, rigRates, secondsPerShare } from '#mining/stratum/rig-rates.ts'
import type { Finding } from '#pool/stratum-check/findings.ts'
import type { ManufacturerOutcome, ManufacturerReport } from '#pool/stratum-check/judge.ts'
import type { MakerName } from '#pool/stratum-check/maker-rigs.ts'
import type { JobTiming } from '#pool/stratum-check/measure.ts'

/** The report of `--json`. */
export interface RigsCheckReport {
  readonly server: string
  readonly tls: boolean
  readonly user: string
  /** Time of listening after the login; 0 without `--listen-for`. */
  readonly listenedMs: number
  readonly makers: readonly ManufacturerReport[]
  /** Findings about several connections together. */
  readonly findings: readonly Finding[]
  readonly shares: readonly ShareTime[]
}

/** The mean time of a share for a model of rig, at the target that the server gave to rigs of its maker. */
export interface ShareTime {
  readonly rig: string
  readonly rate: number
  readonly difficulty: number
  readonly secondsPerShare: number
}

const makersOf: Readonly<Record<RigKind, readonly MakerName[]>> = {
  antminer: ['ka3', 'ka3-2023'],
  goldshell: ['goldshell'],
  'kd-box': ['kd-box'],
  ibelink: ['ibelink'],
}

/** Share times of the models whose maker was checked and has a target. */
export function shareTimes(reports: readonly ManufacturerReport[]): ShareTime[] {
  return rigRates.flatMap(({ name, kind, rate }) => {
    const report = reports.find(({ maker, difficulty }) => makersOf[kind].includes(maker) && difficulty !== null)
    const difficulty = report?.difficulty ?? null
    if (difficulty === null) return []
    return [{ rig: name, rate, difficulty, secondsPerShare: secondsPerShare(difficulty, rate) }]
  })
}

const outcomes: Readonly<Record<ManufacturerOutcome, string>> = { mines: 'yes', loses: 'with a loss', fails: 'no' }

export function checkLines(checked: RigsCheckReport): string[] {
  const { server, user, makers, findings, shares } = checked
  return [
    `${server} as ${printable(user, 100)}`,
    'newcut submits no shares here, so this does not check how the server judges them.',
    '',
    ...table(
      ['rig', 'mines', 'log-in', 'first job', 'nonce1', 'nonce2', 'shares of'],
      makers.map((report) => [
        report.rig,
        outcomes[report.outcome],
        timeText(report.loginMs),
        timeText(report.firstJobMs),
        printable(report.nonce1 ?? '-', 16),
        bytesText(report.nonce2Bytes),
        difficultyText(report),
      ]),
    ),
    ...makers.flatMap(({ rig, findings: of }) => findingLines(rig, of)),
    ...findingLines('several connections', findings),
    ...measureLines(makers),
    ...shareLines(shares),
  ]
}

function findingLines(heading: string, findings: readonly Finding[]): string[] {
  if (findings.length === 0) return []
  return [
    '',
    `${heading}:`,
    ...findings.flatMap(({ level, text, remedy }) => {
      return [`  ${level}: ${text}`, ...(remedy === '' ? [] : [`    at the server: ${remedy}`])]
    }),
  ]
}

function measureLines(makers: readonly ManufacturerReport[]): string[] {
  const rows = makers.flatMap(({ rig, measure }) => (measure === null ? [] : [[rig, ...measureCells(measure)]]))
  if (rows.length === 0) return []
  const head = ['rig', 'new headers', 'only time', 'a second', 'silence', 'a header lasts', 'power used']
  return ['', ...table(head, rows)]
}

const measureCells = (measure: JobTiming): string[] => [
  String(measure.headers),
  String(measure.rolled),
  measure.headersPerSecond.toFixed(2),
  formatDuration(measure.longestSilenceMs),
  timeText(measure.headerMs),
  percentText(measure.used),
]

function shareLines(shares: readonly ShareTime[]): string[] {
  if (shares.length === 0) return []
  const rows = shares.map(({ rig, rate, difficulty, secondsPerShare: seconds }) => {
    return [rig, `${rate / 1e12} TH/s`, bitsText(difficulty), formatDuration(seconds * 1000)]
  })
  return ['', ...table(['rig', 'rate', 'shares of', 'one share in'], rows)]
}

const timeText = (milliseconds: number | null) => (milliseconds === null ? '-' : formatDuration(milliseconds))
const bytesText = (bytes: number | null) => (bytes === null ? '-' : `${bytes} bytes`)
const percentText = (share: number | null) => (share === null ? '-' : `${(share * 100).toFixed(1)} %`)

/** The expected hashes of a share, as a power of two. */
const bitsText = (difficulty: number) => `2^${Number(Math.log2(difficulty).toFixed(1))}`

const difficultyText = ({ firstDifficulty, difficulty }: ManufacturerReport) => {
  if (firstDifficulty === null || difficulty === null) return '-'
  const [first, last] = [bitsText(firstDifficulty), bitsText(difficulty)]
  return first === last ? first : `${first} to ${last}`
}

/** A table whose first two columns are words, and all others numbers. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const lines = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...lines.map((row) => row[column].length)))
  const isWord = (column: number) => column === 0 || head[column] === 'mines'
  return lines.map((row) =>
    row
      .map((cell, i) => (isWord(i) ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
      .join('  ')
      .trimEnd(),
  )
}
