/** Warnings about workers with many refused shares: when they begin and end, and how to fix the cause. */
import type { RigWarning, WorkerAccount } from './account.ts'

/** Refusals in a row that cause a warning. */
const ALL_REFUSED = 50
/** A higher portion of refused shares over ten minutes causes a warning. At half of it the warning ends. */
const REFUSED_FRACTION = 0.05
/** With fewer shares the portion says nothing. */
const MIN_SHARES = 50
/** A warning about a worker expires after this silence. */
const SILENT_MS = 3_600_000

/** Fix for each reason. */
const remedies: Readonly<Record<RigWarning['reason'], string>> = {
  duplicate: 'it uses up its headers before it gets new ones: is its program known by its own name?',
  stale: 'its shares come late: look at the network between, and at the node',
  low: 'is it set to another network or pool, or its order of bytes (password order=memory)?',
  malformed: 'does its program speak the stratum of these networks?',
  unauthorized: 'is it banned, or does it log in only after its shares?',
  unsubscribed: 'does its program speak the stratum of these networks?',
  unavailable: 'the share log cannot be written',
  'unknown job': 'it searches jobs of another server: does a proxy mix pools?',
}

/**
 * Updates the warning of a worker after a share.
 * @returns `warning` if it begins, `well` if it ends, or null if nothing changed
 */
export function judgeAccount(account: WorkerAccount, nowMs: number): 'warning' | 'well' | null {
  if (account.warning === null) {
    account.warning = warningFor(account, nowMs)
    return account.warning === null ? null : 'warning'
  }
  const { accepted, refused } = countsOf(account, nowMs)
  if (refused > (REFUSED_FRACTION / 2) * (accepted + refused)) return null
  account.warning = null
  return 'well'
}

/** Whether a warning has expired because the worker is silent. */
export const isForgotten = ({ warning, heardMs }: WorkerAccount, nowMs: number) =>
  warning !== null && nowMs - heardMs > SILENT_MS

export function warningText({ user, worker, warning }: Pick<WorkerAccount, 'user' | 'worker' | 'warning'>): string {
  const name = rigText(user, worker)
  if (warning === null) return `${name} is well again: its shares are accepted`
  const { reason, refused, of } = warning
  const what =
    refused === of
      ? `the last ${refused} shares of ${name} were all refused`
      : `${refused} of the last ${of} shares of ${name} were refused, all within 10 minutes`
  return `${what}; the commonest reason is ${reason}: ${remedies[reason]}`
}

export const remedyOf = ({ reason }: RigWarning) => remedies[reason]

const rigText = (user: string, worker: string) => (worker === '' ? user : `${worker} of ${user}`)

function warningFor(account: WorkerAccount, nowMs: number): RigWarning | null {
  const { streak } = account
  if (streak >= ALL_REFUSED) {
    return { reason: reasonOf(account, nowMs), refused: streak, of: streak, sinceMs: nowMs }
  }
  const { accepted, refused } = countsOf(account, nowMs)
  const total = accepted + refused
  if (total < MIN_SHARES || refused <= REFUSED_FRACTION * total) return null
  return { reason: reasonOf(account, nowMs), refused, of: total, sinceMs: nowMs }
}

function countsOf(account: WorkerAccount, nowMs: number): { readonly accepted: number; readonly refused: number } {
  const { accepted, refused } = account.recent(nowMs)
  return { accepted, refused: Object.values(refused).reduce((sum, count) => sum + count, 0) }
}

/** The most frequent reason of the last ten minutes. */
function reasonOf(account: WorkerAccount, nowMs: number): RigWarning['reason'] {
  const counts = Object.entries(account.recent(nowMs).refused) as [RigWarning['reason'], number][]
  const [[reason] = ['stale' as const]] = counts.toSorted(([, a], [, b]) => b - a)
  return reason === 'stale' && 2 * account.unknownJobs > account.streak ? 'unknown job' : reason
}
