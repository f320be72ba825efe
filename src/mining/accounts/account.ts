/** The account of one worker: shares, refusals and decayed hashrates. Only shares change it, so a replay is exact. */
import { shareVerdicts } from '../stratum/messages.ts'
import type { ShareEntry, ShareRejection } from './share-store.ts'

/** All verdicts of refused shares. */
export const refusedVerdicts = shareVerdicts.filter((verdict) => verdict !== 'accepted') as [
  ShareRejection,
  ...ShareRejection[],
]

/** Time constants of the decayed hashrates in milliseconds, by name. */
const rateWindows = {
  '1m': 60_000,
  '5m': 300_000,
  '1h': 3_600_000,
  '1d': 86_400_000,
  '7d': 604_800_000,
} as const
export type RateWindow = keyof typeof rateWindows
export const rateNames = Object.keys(rateWindows) as readonly RateWindow[]
const WINDOWS_MS: readonly number[] = Object.values(rateWindows)
/** Minimum age of an account with hashrates. Earlier, one interval between two shares would decide them. */
const YOUNG_MS = 10_000

export const MINUTE_MS = 60_000
/** Minutes that count for warnings. */
const MINUTES = 10

/** Shares of one minute. */
interface MinuteCounts {
  readonly minuteMs: number
  accepted: number
  readonly refused: Partial<Record<ShareRejection, number>>
}

/** Why the user was warned about a worker. */
export interface RigWarning {
  /** The most frequent reason. */
  readonly reason: ShareRejection | 'unknown job'
  readonly refused: number
  readonly of: number
  readonly sinceMs: number
}

/** An account in its saved JSON form. */
export interface SavedAccount {
  readonly user: string
  readonly worker: string
  readonly agent: string
  readonly address: string
  readonly difficulty: number | null
  readonly accepted: number
  readonly hashes: number
  readonly blocks: number
  readonly refused: Partial<Record<ShareRejection, number>>
  readonly firstMs: number | null
  readonly lastShareMs: number | null
  readonly heardMs: number
  readonly decayed: readonly number[]
  readonly minutes: readonly MinuteCounts[]
  readonly streak: number
  readonly unknownJobs: number
  readonly warning: RigWarning | null
}

/** Identifies a worker. Names contain no line breaks. */
export const accountKey = (user: string, worker: string) => `${user}\n${worker}`

export const minuteOf = (timeMs: number) => Math.floor(timeMs / MINUTE_MS) * MINUTE_MS

export class WorkerAccount {
  readonly key: string
  readonly user: string
  readonly worker: string
  /** Program of the newest share. */
  agent = ''
  address = ''
  /** Difficulty of the newest share, or null if there was none. */
  difficulty: number | null = null
  accepted = 0
  /** Mean number of hashes for all accepted shares: the sum of their difficulties. */
  hashes = 0
  /** Shares that are blocks, accepted or too late. */
  blocks = 0
  readonly refused: Partial<Record<ShareRejection, number>>
  /** Time of the first accepted share, or null. Hashrates count from there. */
  firstMs: number | null = null
  /** Time of the newest accepted share. */
  lastShareMs: number | null = null
  /** Time of the newest share, whatever its verdict. */
  heardMs = 0
  /** Refusals since the last accepted share. */
  streak = 0
  /** Refusals among them for jobs that this server never issued. */
  unknownJobs = 0
  warning: RigWarning | null = null
  /** Decayed hashes of the shares for each window, as of the newest accepted share. */
  readonly #decayed = new Float64Array(WINDOWS_MS.length)
  /** Minutes with shares, the oldest first. */
  #minutes: MinuteCounts[] = []

  constructor(user: string, worker: string, snapshot: SavedAccount | null = null) {
    this.key = accountKey(user, worker)
    this.user = user
    this.worker = worker
    this.refused = { ...snapshot?.refused }
    if (snapshot === null) return
    const { agent, address, difficulty, accepted, hashes, blocks, firstMs, lastShareMs, heardMs, ...rest } = snapshot
    Object.assign(this, { agent, address, difficulty, accepted, hashes, blocks, firstMs, lastShareMs, heardMs })
    this.streak = rest.streak
    this.unknownJobs = rest.unknownJobs
    this.warning = rest.warning
    this.#decayed.set(rest.decayed)
    this.#minutes = rest.minutes.map((minute) => ({ ...minute, refused: { ...minute.refused } }))
  }

  /** Counts an accepted share. Times must not decrease. */
  accept(by: Pick<ShareEntry, 'agent' | 'address'>, difficulty: number, isBlock: boolean, timeMs: number): void {
    this.agent = by.agent
    this.address = by.address
    // A share that meets only a later target has difficulty 0, which does not describe the rig.
    if (difficulty > 0) this.difficulty = difficulty
    this.accepted++
    this.hashes += difficulty
    if (isBlock) this.blocks++
    // The first share only starts the interval; it adds no hashes to it.
    if (this.firstMs === null) this.firstMs = timeMs
    else this.#decay(timeMs, difficulty)
    this.lastShareMs = timeMs
    this.heardMs = timeMs
    this.streak = 0
    this.unknownJobs = 0
    this.#minute(timeMs).accepted++
  }

  /** Counts the block of a refused share. The refusal itself is counted by `refuse`. */
  addBlock(timeMs: number): void {
    this.blocks++
    this.heardMs = Math.max(this.heardMs, timeMs)
  }

  /** Counts refused shares. */
  refuse(verdict: ShareRejection, timeMs: number, count = 1, isUnknownJob = false): void {
    this.refused[verdict] = (this.refused[verdict] ?? 0) + count
    this.heardMs = Math.max(this.heardMs, timeMs)
    const minute = this.#minute(timeMs)
    minute.refused[verdict] = (minute.refused[verdict] ?? 0) + count
    // A share log that cannot be written is not a fault of the rig.
    if (verdict === 'unavailable') return
    this.streak += count
    if (isUnknownJob) this.unknownJobs += count
  }

  /**
   * Hashrate over a window.
   * @returns hashes per second, or null if the account is younger than 10 s
   */
  rate(window: RateWindow, nowMs: number): number | null {
    const first = this.firstMs
    const last = this.lastShareMs
    if (first === null || last === null || nowMs - first < YOUNG_MS) return null
    const tauMs = rateWindows[window]
    const decayed = this.#decayed[rateNames.indexOf(window)] * Math.exp(-Math.max(0, nowMs - last) / tauMs)
    return (1000 * decayed) / (tauMs * -Math.expm1(-(nowMs - first) / tauMs))
  }

  /** Shares of the last ten minutes: the accepted ones, and the refusals that the rig caused, by verdict. */
  recent(nowMs: number): { readonly accepted: number; readonly refused: Partial<Record<ShareRejection, number>> } {
    const refused: Partial<Record<ShareRejection, number>> = {}
    let accepted = 0
    for (const minute of this.#minutes) {
      if (minute.minuteMs <= minuteOf(nowMs) - MINUTES * MINUTE_MS) continue
      accepted += minute.accepted
      for (const verdict of shareVerdicts) {
        if (verdict === 'accepted' || verdict === 'unavailable') continue
        const count = minute.refused[verdict] ?? 0
        if (count > 0) refused[verdict] = (refused[verdict] ?? 0) + count
      }
    }
    return { accepted, refused }
  }

  /** Refusals in this minute so far. */
  refusedIn(minuteMs: number, verdict: ShareRejection): number {
    return this.#minutes.find((minute) => minute.minuteMs === minuteMs)?.refused[verdict] ?? 0
  }

  snapshot(): SavedAccount {
    const { user, worker, agent, address, difficulty, accepted, hashes, blocks, refused } = this
    const { firstMs, lastShareMs, heardMs, streak, unknownJobs, warning } = this
    return {
      user,
      worker,
      agent,
      address,
      difficulty,
      accepted,
      hashes,
      blocks,
      refused,
      firstMs,
      lastShareMs,
      heardMs,
      streak,
      unknownJobs,
      warning,
      decayed: [...this.#decayed],
      minutes: this.#minutes,
    }
  }

  #decay(timeMs: number, hashes: number): void {
    const elapsedMs = timeMs - (this.lastShareMs ?? timeMs)
    const decayed = this.#decayed
    for (let i = 0; i < decayed.length; i++) {
      const kept = elapsedMs > 0 ? decayed[i] * Math.exp(-elapsedMs / WINDOWS_MS[i]) : decayed[i]
      decayed[i] = kept + hashes
    }
  }

  #minute(timeMs: number): MinuteCounts {
    const minuteMs = minuteOf(timeMs)
    const newest = this.#minutes.at(-1)
    if (newest?.minuteMs === minuteMs) return newest
    const known = this.#minutes.find((minute) => minute.minuteMs === minuteMs)
    if (known !== undefined) return known
    const minute: MinuteCounts = { minuteMs, accepted: 0, refused: {} }
    this.#minutes.push(minute)
    if (this.#minutes.length > MINUTES + 1) this.#minutes.shift()
    return minute
  }
}
