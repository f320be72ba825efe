/** What one worker has done: shares, refusals and decayed rates. It changes with shares alone, so a replay is exact. */
import { type ShareVerdict, shareVerdicts } from '../stratum/messages.ts'
import type { ShareEntry } from './share-store.ts'

/** Why a share was refused. */
export type RefusedVerdict = Exclude<ShareVerdict, 'accepted'>

/** Time constants of the decayed rates, by name. */
export const rateWindows = {
  '1m': 60_000,
  '5m': 300_000,
  '1h': 3_600_000,
  '1d': 86_400_000,
  '7d': 604_800_000,
} as const
export type RateWindow = keyof typeof rateWindows
export const rateNames = Object.keys(rateWindows) as readonly RateWindow[]
const WINDOWS_MS: readonly number[] = Object.values(rateWindows)
/** Before this no rate is told: it would come from one interval between two shares. */
const YOUNG_MS = 10_000

export const MINUTE_MS = 60_000
/** Minutes that warnings look back on. */
const MINUTES = 10

/** Shares of one minute. */
export interface MinuteCounts {
  readonly minuteMs: number
  accepted: number
  readonly refused: Partial<Record<RefusedVerdict, number>>
}

/** Why the user was warned of a worker. */
export interface RigWarning {
  /** The commonest reason. */
  readonly reason: RefusedVerdict | 'unknown job'
  readonly refused: number
  readonly of: number
  readonly sinceMs: number
}

/** An account as it is saved: JSON. */
export interface SavedAccount {
  readonly user: string
  readonly worker: string
  readonly agent: string
  readonly address: string
  readonly difficulty: number | null
  readonly accepted: number
  readonly hashes: number
  readonly blocks: number
  readonly refused: Partial<Record<RefusedVerdict, number>>
  readonly firstMs: number | null
  readonly lastShareMs: number | null
  readonly heardMs: number
  readonly decayed: readonly number[]
  readonly minutes: readonly MinuteCounts[]
  readonly streak: number
  readonly unknownJobs: number
  readonly warning: RigWarning | null
}

/** What identifies a worker. Names are one line each. */
export const accountKey = (user: string, worker: string) => `${user}\n${worker}`

export const minuteOf = (timeMs: number) => Math.floor(timeMs / MINUTE_MS) * MINUTE_MS

export class Account {
  readonly key: string
  readonly user: string
  readonly worker: string
  /** Of the newest share. */
  agent = ''
  address = ''
  /** Of the newest share; null: there was none. */
  difficulty: number | null = null
  accepted = 0
  /** Hashes that the accepted shares take on average. */
  hashes = 0
  /** Accepted shares that solve a block. */
  blocks = 0
  readonly refused: Partial<Record<RefusedVerdict, number>>
  /** Time of the first accepted share, from which on rates count; null: there was none. */
  firstMs: number | null = null
  /** Of the newest accepted share. */
  lastShareMs: number | null = null
  /** Of the newest share, whatever its verdict. */
  heardMs = 0
  /** Refusals since the last accepted share. */
  streak = 0
  /** Those of them for a job that this server never handed out. */
  unknownJobs = 0
  warning: RigWarning | null = null
  /** Decayed hashes of the shares, a number for each window, as of the newest accepted share. */
  readonly #decayed = new Float64Array(WINDOWS_MS.length)
  /** Minutes with shares, oldest first. */
  #minutes: MinuteCounts[] = []

  constructor(user: string, worker: string, saved: SavedAccount | null = null) {
    this.key = accountKey(user, worker)
    this.user = user
    this.worker = worker
    this.refused = { ...saved?.refused }
    if (saved === null) return
    const { agent, address, difficulty, accepted, hashes, blocks, firstMs, lastShareMs, heardMs, ...rest } = saved
    Object.assign(this, { agent, address, difficulty, accepted, hashes, blocks, firstMs, lastShareMs, heardMs })
    this.streak = rest.streak
    this.unknownJobs = rest.unknownJobs
    this.warning = rest.warning
    this.#decayed.set(rest.decayed)
    this.#minutes = rest.minutes.map((minute) => ({ ...minute, refused: { ...minute.refused } }))
  }

  /** An accepted share. Times never fall. */
  accept(by: Pick<ShareEntry, 'agent' | 'address'>, difficulty: number, isBlock: boolean, timeMs: number): void {
    this.agent = by.agent
    this.address = by.address
    // One that meets a later target alone is worth nothing, and says nothing of the difficulty.
    if (difficulty > 0) this.difficulty = difficulty
    this.accepted++
    this.hashes += difficulty
    if (isBlock) this.blocks++
    // The first share begins the time in which others are counted.
    if (this.firstMs === null) this.firstMs = timeMs
    else this.#decay(timeMs, difficulty)
    this.lastShareMs = timeMs
    this.heardMs = timeMs
    this.streak = 0
    this.unknownJobs = 0
    this.#minute(timeMs).accepted++
  }

  /** Refused shares. */
  refuse(verdict: RefusedVerdict, timeMs: number, count = 1, isUnknownJob = false): void {
    this.refused[verdict] = (this.refused[verdict] ?? 0) + count
    this.heardMs = Math.max(this.heardMs, timeMs)
    const minute = this.#minute(timeMs)
    minute.refused[verdict] = (minute.refused[verdict] ?? 0) + count
    // That the disk is full says nothing of the rig.
    if (verdict === 'unavailable') return
    this.streak += count
    if (isUnknownJob) this.unknownJobs += count
  }

  /** Hashes a second in a window; null: not known yet. */
  rate(window: RateWindow, nowMs: number): number | null {
    const [first, last] = [this.firstMs, this.lastShareMs]
    if (first === null || last === null || nowMs - first < YOUNG_MS) return null
    const tauMs = rateWindows[window]
    const decayed = this.#decayed[rateNames.indexOf(window)] * Math.exp(-Math.max(0, nowMs - last) / tauMs)
    return (1000 * decayed) / (tauMs * -Math.expm1(-(nowMs - first) / tauMs))
  }

  /** Refusals of the last ten minutes that are the rig's, by verdict, and the accepted shares of that time. */
  recent(nowMs: number): { readonly accepted: number; readonly refused: Partial<Record<RefusedVerdict, number>> } {
    const refused: Partial<Record<RefusedVerdict, number>> = {}
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

  /** Refusals that are known of a minute. */
  refusedIn(minuteMs: number, verdict: RefusedVerdict): number {
    return this.#minutes.find((minute) => minute.minuteMs === minuteMs)?.refused[verdict] ?? 0
  }

  saved(): SavedAccount {
    const { user, worker, agent, address, difficulty, accepted, hashes, blocks, refused } = this
    const { firstMs, lastShareMs, heardMs, streak, unknownJobs, warning } = this
    return {
      ...{ user, worker, agent, address, difficulty, accepted, hashes, blocks, refused },
      ...{ firstMs, lastShareMs, heardMs, streak, unknownJobs, warning },
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
