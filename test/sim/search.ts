/** Judges the searched work: a node would take a block of it, and lost work is soon replaced. */
import { DEAD_WORK_MS, GAP_MS, KNOWN_WELL_MS, RECOVERY_MS, SWITCH_MS } from './bounds.ts'
import type { SimulatedEngine } from './engine.ts'
import type { Host } from './network.ts'
import type { Report } from './report.ts'
import type { Site } from './site.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface SearchOptions {
  readonly time: VirtualTime
  readonly report: Report
  readonly sites: readonly Site[]
  /** The engine of the running miner, or null. */
  readonly engine: () => SimulatedEngine | null
  /** Since when nothing has been wrong, or null while something may be. */
  readonly calmFromMs: () => number | null
}

export class Search {
  readonly #options: SearchOptions
  /** Since when the engines have had no useful work, or null while they have. */
  #idleSinceMs: number | null = 0
  #searched: unknown = null
  /** Since when the client has known that the searched work is obsolete. */
  #knownDeadSinceMs: number | null = null
  /** Start time of the miner. */
  #startMs = 0
  /** Whether late recovery has been reported: once is enough. */
  #isLateTold = false

  constructor(options: SearchOptions) {
    this.#options = options
  }

  /** A miner has restarted without work. */
  restarted(): void {
    const { nowMs } = this.#options.time
    this.#startMs = nowMs
    this.#idleSinceMs = nowMs
    this.#knownDeadSinceMs = null
  }

  /** The client has received an event of this chain. */
  told(host: Host, chain: number): void {
    const { sites, engine, time } = this.#options
    const work = engine()?.work ?? null
    const isPresent = sites.length === 1 && sites[0].network.host === host
    if (!isPresent || work === null || work.fields.chainId !== chain || this.#isLive()) return
    this.#knownDeadSinceMs ??= time.nowMs
  }

  /** Whether the engines search useful work: a node would take a block of it. */
  #isLive(): boolean {
    const work = this.#options.engine()?.work ?? null
    return work !== null && this.#options.sites.some((site) => site.isThere && site.node.takes(work.fields))
  }

  /** Checks the invariants. */
  judge(): void {
    const { engine, time, report } = this.#options
    const running = engine()
    if (running === null) return
    const isLive = this.#isLive()
    if (running.work !== this.#searched || isLive) this.#knownDeadSinceMs = null
    this.#searched = running.work
    if (this.#knownDeadSinceMs !== null) {
      const deadMs = time.nowMs - this.#knownDeadSinceMs
      report.extremes.deadWorkMs = Math.max(report.extremes.deadWorkMs, deadMs)
      if (deadMs > DEAD_WORK_MS) {
        report.violate('work that is over is not searched on', `${deadMs} ms`)
        this.#knownDeadSinceMs = null
      }
    }
    const idleSinceMs = this.#idleSinceMs
    if (isLive) this.#idleSinceMs = null
    else this.#idleSinceMs ??= time.nowMs
    if (idleSinceMs === null) return
    this.#judgeSwitch(idleSinceMs)
    this.#judgeGap(idleSinceMs)
  }

  /** The gap while one of several nodes is well. */
  #judgeSwitch(idleSinceMs: number): void {
    const { sites, time, report } = this.#options
    if (sites.length === 1) return
    const wellSinceMs = Math.min(...sites.map((site) => site.wellSinceMs ?? Number.POSITIVE_INFINITY))
    const knownMs = Math.max(wellSinceMs, this.#startMs) + KNOWN_WELL_MS
    report.reach('switchMs', time.nowMs - Math.max(idleSinceMs, knownMs), SWITCH_MS)
  }

  /** The gap while nothing is wrong. */
  #judgeGap(idleSinceMs: number): void {
    const { time, report, calmFromMs } = this.#options
    const { extremes } = report
    const fromMs = calmFromMs()
    if (fromMs === null) return
    const calmMs = time.nowMs - fromMs
    const idleMs = Math.min(calmMs, time.nowMs - idleSinceMs)
    extremes.gapMs = Math.max(extremes.gapMs, idleMs)
    if (idleSinceMs <= fromMs) extremes.recoveryMs = Math.max(extremes.recoveryMs, calmMs)
    if (idleMs <= GAP_MS || calmMs <= RECOVERY_MS || this.#isLateTold) return
    this.#isLateTold = true
    report.violate('work again after faults', `nothing of use for ${Math.round(idleMs)} ms`)
  }
}
