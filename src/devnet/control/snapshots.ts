/** Snapshots of a network, to which it can be reverted; and control requests that move its clock, also backwards. */
import type { Cut } from '#ground/chain/cut.ts'
import { MAX_SNAPSHOTS } from '#ground/schema/control.ts'
import type { HeldClock, NodeClock } from '../rules/node-clock.ts'
import type { Coordinator } from '../work/coordinator.ts'
import type { BlockMaker } from './block-maker.ts'
import { ControlError } from './control-error.ts'

/** Chains and contract state are never deleted, so their heads are enough. */
interface NamedSnapshot {
  readonly heads: Cut
  /** Number of rule changes at that time. */
  readonly ruleChanges: number
  readonly pools: ReturnType<Coordinator['pools']['save']>
  readonly aheadMs: number
  readonly held: HeldClock | null
}

export class NamedSnapshots {
  readonly #maker: BlockMaker
  readonly #clock: NodeClock
  /** By id, oldest first. */
  readonly #kept = new Map<number, NamedSnapshot>()
  #newest = 0
  #first: NamedSnapshot | null = null

  constructor(maker: BlockMaker, clock: NodeClock) {
    this.#maker = maker
    this.#clock = clock
  }

  /** Ids, ascending. */
  get ids(): number[] {
    return [...this.#kept.keys()]
  }

  /**
   * Takes a snapshot.
   * @returns its id
   * @throws ControlError
   */
  take(): number {
    if (this.#kept.size >= MAX_SNAPSHOTS) throw new ControlError({ kind: 'too-many-snapshots', most: MAX_SNAPSHOTS })
    this.#newest++
    this.#kept.set(this.#newest, this.#takeNow())
    return this.#newest
  }

  /** Notes the current state as that of the start. */
  start(): void {
    this.#first = this.#takeNow()
  }

  /** Reverts to the start, and drops all snapshots. */
  reset(): void {
    if (this.#first === null) throw new Error('the node has not started')
    this.#kept.clear()
    this.#restore(this.#first)
  }

  #takeNow(): NamedSnapshot {
    const { chains, coordinator } = this.#maker
    return {
      heads: new Map(chains.cut),
      ruleChanges: chains.rules.changes.length,
      pools: coordinator.pools.save(),
      aheadMs: this.#clock.setAheadMs,
      held: this.#clock.held,
    }
  }

  /** Reverts to a snapshot, and drops it and all later ones. @throws ControlError */
  revert(id: number): void {
    const snapshot = this.#kept.get(id)
    if (snapshot === undefined) throw new ControlError({ kind: 'unknown-snapshot', id })
    this.#restore(snapshot)
    for (const each of this.ids) if (each >= id) this.#kept.delete(each)
  }

  #restore(snapshot: NamedSnapshot): void {
    const { chains, coordinator } = this.#maker
    // New objects: drafts on a head that stays must be restarted as well.
    const heads = new Map([...snapshot.heads].map(([chain, head]) => [chain, { ...head }]))
    this.#clock.set(snapshot.aheadMs, newestOf(heads))
    this.#clock.hold(snapshot.held)
    coordinator.pools.rewind(heads)
    chains.revert(heads, snapshot.ruleChanges)
    coordinator.pools.restore(snapshot.pools)
    coordinator.forgetWork()
  }

  /**
   * Moves the clock forwards, or backwards unless a block would then be in the future. It runs from there.
   * @throws ControlError
   */
  moveClock(byMs: number): void {
    this.#clock.hold(null)
    if (byMs >= 0) this.#clock.advance(byMs)
    else this.#setBack(byMs)
  }

  /** Sets the clock to a time in milliseconds since the UNIX epoch. @throws ControlError */
  setClock(toMs: number): void {
    this.#clock.hold(null)
    this.moveClock(toMs - this.#clock.ms())
  }

  /**
   * Stops the clock, so that the next block has this time (milliseconds since the UNIX epoch).
   * @param stepMs each block advances the clock by this much; null if the next one sets it going
   * @throws ControlError
   */
  holdClock(atMs: number, stepMs: number | null): void {
    const { chains, coordinator } = this.#maker
    // Difficulty follows block times.
    if (chains.checkPow) throw new ControlError({ kind: 'clock-only-forwards' })
    const newest = newestOf(chains.cut)
    const at = microsecondsOf(atMs)
    if (at <= newest) {
      throw new ControlError({
        kind: 'clock-behind-blocks',
        mostMs: Math.floor(this.#clock.ms() - Number(newest) / 1000),
      })
    }
    this.#clock.hold({ at, step: stepMs === null ? null : microsecondsOf(stepMs) })
    coordinator.renewWork()
  }

  /** Stops the clock: each block is this much later than the one before it. @throws ControlError */
  stepClock(everyMs: number): void {
    const newestMs = Number(newestOf(this.#maker.chains.cut)) / 1000
    this.holdClock(Math.max(newestMs, this.#clock.ms()) + everyMs, everyMs)
  }

  #setBack(byMs: number): void {
    const { chains, coordinator } = this.#maker
    if (chains.checkPow) throw new ControlError({ kind: 'clock-only-forwards' })
    const newest = newestOf(chains.cut)
    const mostMs = Math.max(0, Math.floor(this.#clock.ms() - Number(newest) / 1000))
    if (-byMs > mostMs) throw new ControlError({ kind: 'clock-behind-blocks', mostMs })
    this.#clock.set(this.#clock.setAheadMs + byMs, newest)
    // Work handed out before now has times in the future.
    coordinator.renewWork()
  }
}

const microsecondsOf = (ms: number) => BigInt(Math.round(ms * 1000))

/** Creation time of the newest block of a cut, in microseconds. */
function newestOf(cut: Cut): bigint {
  let newest = 0n
  for (const { creationTime } of cut.values()) if (creationTime > newest) newest = creationTime
  return newest
}
