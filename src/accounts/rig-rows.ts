/** The table of workers as everybody sees it: `newcut rigs`, GET /api/rigs, the dashboard. It is a wire format. */
import { type Account, type RateWindow, type RefusedVerdict, type RigWarning, rateNames } from './account.ts'
import type { Accounts, Presence } from './accounts.ts'
import { remedyOf } from './rig-warnings.ts'

/** Hashes a second; null: not known. */
export interface RigRates extends Readonly<Record<RateWindow, number | null>> {
  /** By the newest shares of its connections. */
  readonly now: number | null
  /** As the program of the rig says. */
  readonly announced: number | null
}

export interface RigRow {
  readonly user: string
  /** Empty: the rig names none. */
  readonly worker: string
  readonly agent: string
  /** IP address. */
  readonly address: string
  /** Connections now. */
  readonly connections: number
  readonly hashrates: RigRates
  readonly accepted: number
  /** Shares by the reason why they were refused. */
  readonly refused: Readonly<Partial<Record<RefusedVerdict, number>>>
  /** Hashes that the accepted shares take on average. */
  readonly hashes: number
  /** Accepted shares that solve a block. */
  readonly blocks: number
  /** Hashes that a share takes; null: not known. */
  readonly difficulty: number | null
  /** Unix times in milliseconds; null: it has handed in none. */
  readonly firstShareMs: number | null
  readonly lastShareMs: number | null
  /** Set while too many of its shares are refused. */
  readonly warning: (RigWarning & { readonly remedy: string }) | null
}

/** Body of GET /api/rigs. */
export interface RigTable {
  /** Unix time in milliseconds. */
  readonly nowMs: number
  /** Whether the share log can be written; null: none is kept. */
  readonly isLogWell: boolean | null
  /** Workers in all. */
  readonly total: number
  readonly rigs: readonly RigRow[]
}

/** All workers with shares or a connection: first those with a warning, then by their rate over an hour. */
export function rigRows(accounts: Accounts, nowMs: number): RigRow[] {
  const rows = [...accounts.all].map((account) => rowOf(account, accounts.present.get(account.key) ?? [], nowMs))
  for (const present of accounts.present.values()) {
    const [{ user, worker }] = present
    if (accounts.get(user, worker) === undefined) rows.push(newcomer(present))
  }
  const rank = ({ warning, hashrates }: RigRow) =>
    warning === null ? (hashrates['1h'] ?? 0) : Number.POSITIVE_INFINITY
  const order = (a: RigRow, b: RigRow) => {
    const [left, right] = [rank(a), rank(b)]
    return left === right ? byName(a, b) : right - left
  }
  return rows.sort(order)
}

function byName(a: RigRow, b: RigRow): number {
  if (a.user !== b.user) return a.user < b.user ? -1 : 1
  return a.worker.localeCompare(b.worker, 'en', { numeric: true })
}

function rowOf(account: Account, present: readonly Presence[], nowMs: number): RigRow {
  const { user, worker, accepted, refused, hashes, blocks, firstMs, lastShareMs, warning } = account
  const newest = present.at(-1)
  const windows = Object.fromEntries(rateNames.map((name) => [name, account.rate(name, nowMs)]))
  return {
    ...{ user, worker, accepted, refused: { ...refused }, hashes, blocks, lastShareMs, firstShareMs: firstMs },
    agent: newest?.agent || account.agent,
    address: newest?.address || account.address,
    connections: present.length,
    hashrates: { ...liveRates(present), ...(windows as Record<RateWindow, number | null>) },
    difficulty: newest?.difficulty ?? account.difficulty,
    warning: warning && { ...warning, remedy: remedyOf(warning) },
  }
}

/** A worker that is connected, and has handed in nothing. */
function newcomer(present: readonly Presence[]): RigRow {
  const { user, worker, agent, address, difficulty } = present[present.length - 1]
  const windows = Object.fromEntries(rateNames.map((name) => [name, null])) as Record<RateWindow, null>
  return {
    ...{ user, worker, agent, address, difficulty, connections: present.length },
    hashrates: { ...liveRates(present), ...windows },
    ...{ accepted: 0, refused: {}, hashes: 0, blocks: 0, firstShareMs: null, lastShareMs: null, warning: null },
  }
}

function liveRates(present: readonly Presence[]): Pick<RigRates, 'now' | 'announced'> {
  return { now: sumOf(present.map(({ rate }) => rate)), announced: sumOf(present.map(({ announced }) => announced)) }
}

/** Of those that are known; null: none is. */
function sumOf(rates: readonly (number | null)[]): number | null {
  const known = rates.filter((rate) => rate !== null)
  return known.length === 0 ? null : known.reduce((sum, rate) => sum + rate, 0)
}
