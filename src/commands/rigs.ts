/** `newcut rigs`: the workers of a running miner, from its HTTP API. */

import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { operatingError } from '#ground/base/errors.ts'
import { AnswerError, fetchAnswer, textOfAnswer } from '#ground/base/http-answer.ts'
import { parsePlainJson } from '#ground/base/json.ts'
import { printable } from '#ground/base/printable.ts'
import { formatHashrate, withPrefix } from '#ground/base/units.ts'
import type { WorkerRow, WorkerTable } from '#mining/accounts/rig-rows.ts'
import { commandErrors } from './input/errors.ts'

/** The default HTTP address of a miner. */
const DEFAULT_ADDRESS = '127.0.0.1:4148'
const PAGE = 10_000
const TIMEOUT_MS = 10_000
const MAX_CELL = 32

/**
 * `address`: HOST:PORT or a URL; by default, a miner on this machine.
 * @throws NewcutError
 */
export async function runRigs(
  { address, json, wide }: { readonly address: string | undefined; readonly json: boolean; readonly wide: boolean },
  { out, untilStopped }: CommandContext,
): Promise<number> {
  const print = printerTo(out)
  const base = baseOf(address ?? DEFAULT_ADDRESS)
  const table = await untilStopped((stopped) => readAll(base, stopped))
  if (json) print(JSON.stringify(table))
  else for (const line of linesOf(table, wide)) print(line)
  return 0
}

function baseOf(address: string): URL {
  const text = /^https?:\/\//i.test(address) ? address : `http://${address}`
  const url = URL.canParse(text) ? new URL(text) : null
  if (url !== null && url.hostname !== '' && /^\/?$/.test(url.pathname)) return url
  throw operatingError(commandErrors.wrongMinerAddress, { address: printable(address, 100), example: DEFAULT_ADDRESS })
}

/** Reads all pages. A worker that moves to another page meanwhile appears once. */
async function readAll(base: URL, stopped: AbortSignal): Promise<WorkerTable> {
  const rigs = new Map<string, WorkerRow>()
  let from = 0
  let table: WorkerTable
  do {
    table = await readPage(new URL(`/api/rigs?from=${from}&limit=${PAGE}`, base), stopped)
    for (const rig of table.rigs) rigs.set(`${rig.user}\n${rig.worker}`, rig)
    from += PAGE
  } while (from < table.total)
  return { ...table, rigs: [...rigs.values()] }
}

async function readPage(url: URL, stopped: AbortSignal): Promise<WorkerTable> {
  const answer = await fetchAnswer(url, { timeoutMs: TIMEOUT_MS, signal: stopped }).catch((error: unknown) => {
    if (!(error instanceof AnswerError && error.mayPass)) throw error
    throw operatingError(commandErrors.noMiner, { url: url.origin, why: error.what }, error)
  })
  const body = textOfAnswer(answer)
  if (answer.status === 404) {
    const { error = 'rigs cannot connect there', hint } = refusalIn(body)
    throw operatingError(commandErrors.minerWithoutRigs, {
      miner: url.origin,
      why: printable(error),
      advice: printable(hint ?? 'start the miner with --stratum-listen HOST:PORT'),
    })
  }
  const table = answer.ok ? tableIn(body) : null
  if (table !== null) return table
  throw operatingError(commandErrors.noRigTable, { url: url.origin })
}

/** The answer of a miner without rigs. */
function refusalIn(body: string): { readonly error?: string; readonly hint?: string } {
  try {
    const { error, hint } = parsePlainJson(body) as Readonly<Record<string, unknown>>
    return typeof error === 'string' && typeof hint === 'string' ? { error, hint } : {}
  } catch {
    return {}
  }
}

/** @returns the table of rigs, or null if the answer is not a table of rigs. */
function tableIn(body: string): WorkerTable | null {
  try {
    const table = parsePlainJson(body) as Partial<WorkerTable> | null
    return Array.isArray(table?.rigs) && typeof table.total === 'number' ? (table as WorkerTable) : null
  } catch {
    return null
  }
}

interface Column {
  readonly name: string
  readonly cell: (rig: WorkerRow, nowMs: number) => string
  /** Limit of its characters. Default: MAX_CELL. */
  readonly limit?: number
  readonly isNumber?: true
  /** Only in the wide table. */
  readonly isWide?: true
}

/** The columns without `isWide` and the gaps between them have at most 100 characters. */
const COLUMNS: readonly Column[] = [
  { name: 'user', cell: ({ user }) => user, isWide: true },
  { name: 'worker', cell: ({ worker }) => worker || '-', limit: 20 },
  { name: 'agent', cell: ({ agent }) => agent || '-', isWide: true },
  { name: 'now', cell: ({ hashrates: { now } }) => rateText(now), isNumber: true },
  { name: 'at worker', cell: ({ hashrates: { announced } }) => rateText(announced), isNumber: true, isWide: true },
  { name: '1m', cell: ({ hashrates }) => rateText(hashrates['1m']), isNumber: true, isWide: true },
  { name: '1h', cell: ({ hashrates }) => rateText(hashrates['1h']), isNumber: true },
  { name: '1d', cell: ({ hashrates }) => rateText(hashrates['1d']), isNumber: true, isWide: true },
  { name: 'accepted', cell: ({ accepted }) => String(accepted), isNumber: true },
  { name: 'refused', cell: ({ refused }) => String(refusedIn(refused)), isNumber: true },
  { name: 'refused as', cell: ({ refused }) => refusedText(refused), isWide: true },
  {
    name: 'last share',
    cell: ({ lastShareMs }, nowMs) => (lastShareMs === null ? '-' : agoText(nowMs - lastShareMs)),
    isNumber: true,
  },
  {
    name: 'difficulty',
    cell: ({ difficulty }) => (difficulty === null ? '-' : withPrefix(difficulty)),
    isNumber: true,
    isWide: true,
  },
  { name: 'state', cell: stateText },
  { name: 'address', cell: ({ address }) => address, limit: 15 },
]

function stateText({ connections, warning }: WorkerRow): string {
  if (connections === 0) return 'gone'
  return warning === null ? 'mining' : 'refused'
}

/** The table, with a heading for each user unless it has a column of users. */
function linesOf({ rigs, total, nowMs, isLogWell }: WorkerTable, isWide: boolean): string[] {
  if (rigs.length === 0) return ['no rigs']
  const columns = COLUMNS.filter((column) => isWide || column.isWide !== true)
  const rows = rigs.map((rig) => columns.map(({ cell, limit = MAX_CELL }) => printable(cell(rig, nowMs), limit)))
  const table = [columns.map(({ name }) => name), ...rows]
  const widths = columns.map((_, column) => Math.max(...table.map((row) => row[column].length)))
  const [header, ...lines] = table.map((row) => {
    const cells = row.map((cell, i) => (columns[i].isNumber ? cell.padStart(widths[i]) : cell.padEnd(widths[i])))
    return cells.join('  ').trimEnd()
  })
  const users = [...new Set(rigs.map(({ user }) => user))]
  const body = isWide
    ? lines
    : users.flatMap((user) => [printable(user), ...lines.filter((_, i) => rigs[i].user === user)])
  return [
    header,
    ...body,
    '',
    totalLine(rigs, total),
    ...(isLogWell === false ? [NOT_KEPT] : []),
    ...warningLines(rigs),
  ]
}

const NOT_KEPT = 'the share log cannot be written: shares are refused'

function totalLine(rigs: readonly WorkerRow[], total: number): string {
  const connected = rigs.filter(({ connections }) => connections > 0).length
  const rate = rigs.reduce((sum, { hashrates }) => sum + (hashrates['1h'] ?? 0), 0)
  return `${total} ${total === 1 ? 'worker' : 'workers'}, ${connected} connected; ${formatHashrate(rate)} over an hour`
}

function warningLines(rigs: readonly WorkerRow[]): string[] {
  return rigs.flatMap(({ user, worker, warning }) => {
    if (warning === null) return []
    const { refused, of, reason, remedy } = warning
    const name = worker === '' ? user : `${worker} of ${user}`
    return [`warning: ${printable(name)}: ${refused} of ${of} shares were refused, most as ${reason}; ${remedy}`]
  })
}

const refusedIn = (refused: WorkerRow['refused']) => Object.values(refused).reduce((sum, count) => sum + count, 0)

function refusedText(refused: WorkerRow['refused']): string {
  const parts = Object.entries(refused).map(([verdict, count]) => `${count} ${verdict}`)
  return parts.length === 0 ? '-' : parts.join(' ')
}

const rateText = (rate: number | null) => (rate === null ? '-' : formatHashrate(rate))

function agoText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`
}
