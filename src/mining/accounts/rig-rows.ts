/** The table of workers for `newcut rigs`, GET /api/rigs and the dashboard. It is a wire format. */
import { type RateWindow, type RigWarning, rateNames, type WorkerAccount } from './account.ts'
import type { Accounts } from './accounts.ts'
import { remedyOf } from './rig-warnings.ts'
import type { ShareRejection } from './share-store.ts'
import type { WorkerConnection } from './worker-connection.ts'

/** Hashes per second, or null if unknown. */
interface RigRates extends Readonly<Record<RateWindow, number | null>> {
  /** By the newest shares of its connections. */
  readonly now: number | null
  /** As the program of the rig reports. */
  readonly announced: number | null
}

export interface WorkerRow {
  readonly user: string
  /** Empty if the rig names none. */
  readonly worker: string
  readonly agent: string
  /** IP address. */
  readonly address: string
  /** Number of open connections. */
  readonly connections: number
  readonly hashrates: RigRates
  readonly accepted: number
  /** Number of refused shares by reason. */
  readonly refused: Readonly<Partial<Record<ShareRejection, number>>>
  /** Mean number of hashes for all accepted shares. */
  readonly hashes: number
  /** Shares that are blocks, accepted or too late. */
  readonly blocks: number
  /** Share difficulty, or null if unknown. */
  readonly difficulty: number | null
  /** Unix times in milliseconds, or null without an accepted share. */
  readonly firstShareMs: number | null
  readonly lastShareMs: number | null
  /** Set while too many of its shares are refused. */
  readonly warning: (RigWarning & { readonly remedy: string }) | null
}

/** Body of GET /api/rigs. */
export interface WorkerTable {
  /** Unix time in milliseconds. */
  readonly nowMs: number
  /** Whether the share log can be written, or null without one. */
  readonly isLogWell: boolean | null
  /** Total number of workers, or of those that match the search. */
  readonly total: number
  readonly rigs: readonly WorkerRow[]
}

/** A worker that is gone for less than this is in trouble; later it is history. */
const DAY_MS = 86_400_000

/**
 * All workers with shares or a connection, those in trouble first: with a warning, then gone within a day. Then come the
 * connected ones by hashrate over an hour, and those that went earlier.
 */
export function rigRows(accounts: Accounts, nowMs: number): WorkerRow[] {
  const rows = [...accounts.all].map((account) => rowOf(account, accounts.connections.get(account.key) ?? [], nowMs))
  for (const present of accounts.connections.values()) {
    const [{ user, worker }] = present
    if (accounts.get(user, worker) === undefined) rows.push(rowOfNewcomer(present))
  }
  const rank = ({ warning, connections, lastShareMs }: WorkerRow) => {
    if (warning !== null) return 0
    if (connections > 0) return 2
    return nowMs - (lastShareMs ?? 0) < DAY_MS ? 1 : 3
  }
  const rateOf = ({ hashrates }: WorkerRow) => hashrates['1h'] ?? 0
  return rows.sort((a, b) => rank(a) - rank(b) || rateOf(b) - rateOf(a) || byName(a, b))
}

function byName(a: WorkerRow, b: WorkerRow): number {
  if (a.user !== b.user) return a.user < b.user ? -1 : 1
  return a.worker.localeCompare(b.worker, 'en', { numeric: true })
}

function rowOf(account: WorkerAccount, present: readonly WorkerConnection[], nowMs: number): WorkerRow {
  const { user, worker, accepted, refused, hashes, blocks, firstMs, lastShareMs, warning } = account
  const newest = present.at(-1)
  const windows = Object.fromEntries(rateNames.map((name) => [name, account.rate(name, nowMs)]))
  return {
    user,
    worker,
    accepted,
    refused: { ...refused },
    hashes,
    blocks,
    lastShareMs,
    firstShareMs: firstMs,
    agent: newest?.agent || account.agent,
    address: newest?.address || account.address,
    connections: present.length,
    hashrates: { ...liveRates(present), ...(windows as Record<RateWindow, number | null>) },
    difficulty: newest?.difficulty ?? account.difficulty,
    warning: warning && { ...warning, remedy: remedyOf(warning) },
  }
}

/** Row of a connected worker without shares. */
function rowOfNewcomer(present: readonly WorkerConnection[]): WorkerRow {
  const { user, worker, agent, address, difficulty } = present[present.length - 1]
  const windows = Object.fromEntries(rateNames.map((name) => [name, null])) as Record<RateWindow, null>
  return {
    user,
    worker,
    agent,
    address,
    difficulty,
    connections: present.length,
    hashrates: { ...liveRates(present), ...windows },
    accepted: 0,
    refused: {},
    hashes: 0,
    blocks: 0,
    firstShareMs: null,
    lastShareMs: null,
    warning: null,
  }
}

function liveRates(present: readonly WorkerConnection[]): Pick<RigRates, 'now' | 'announced'> {
  return { now: sumOf(present.map(({ rate }) => rate)), announced: sumOf(present.map(({ announced }) => announced)) }
}

/** Sum of the known rates, or null if none is known. */
function sumOf(rates: readonly (number | null)[]): number | null {
  const known = rates.filter((rate) => rate !== null)
  return known.length === 0 ? null : known.reduce((sum, rate) => sum + rate, 0)
}
