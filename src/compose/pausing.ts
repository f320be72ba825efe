/** Pauses a miner by schedule and by the CPU load of other programs. */
import type { Clock } from '#ground/base/clock.ts'
import { operatingError } from '#ground/base/errors.ts'
import { every } from '#ground/base/signals.ts'
import { localTime } from '#ground/platform/clock.ts'
import { LoadPauser } from '#mining/mine/load-gate.ts'
import type { Miner } from '#mining/mine/miner.ts'
import { clockText, isOpen, nextChangeMs, type Schedule } from '#mining/mine/schedule.ts'
import { type CpuLoad, fractionOfOthers, readLoad } from '#mining/sensors/load.ts'
import { composeErrors } from './errors.ts'

export interface PausingSetup {
  /** When to mine; always if undefined. */
  readonly schedule?: Schedule | undefined
  /** CPU fraction of other programs, 0 to 1, above which the miner pauses; no limit if undefined. */
  readonly idleLimit?: number | undefined
}

/** Interval of clock checks. The wall clock may jump, so one timer for the next change would not do. */
const CLOCK_MS = 1000
const LOAD_MS = 2000
const MINUTE_MS = 60_000

/** @throws NewcutError BAD_OPTION if the setup needs the CPU load and this machine does not report it */
export async function checkPausing({ idleLimit }: PausingSetup): Promise<void> {
  if (idleLimit === undefined || (await readLoad()) !== null) return
  throw operatingError(composeErrors.noLoadReading)
}

type PausableMiner = Pick<Miner, 'hold'>

/** Pauses and resumes a miner until the signal aborts. The setup may change meanwhile. */
export class PauseController {
  readonly #miner: PausableMiner
  readonly #clock: Clock
  readonly #stopped: AbortSignal
  #setup: PausingSetup = {}
  #current = new AbortController()

  constructor(miner: PausableMiner, clock: Clock, stopped: AbortSignal) {
    this.#miner = miner
    this.#clock = clock
    this.#stopped = stopped
    stopped.addEventListener('abort', () => this.#current.abort(), { once: true })
  }

  /** Replaces the schedule and the idle limit. */
  set(setup: PausingSetup): void {
    const { schedule, idleLimit } = setup
    const isSame = schedule?.text === this.#setup.schedule?.text && idleLimit === this.#setup.idleLimit
    if (isSame || this.#stopped.aborted) return
    this.#setup = setup
    this.#current.abort()
    this.#current = new AbortController()
    const { signal } = this.#current
    if (schedule === undefined) this.#miner.hold('schedule', null)
    else followSchedule(schedule, this.#miner, this.#clock, signal)
    if (idleLimit === undefined) this.#miner.hold('load', null)
    else followLoad(new LoadPauser(idleLimit), this.#miner, this.#clock, signal)
  }
}

function followSchedule(schedule: Schedule, miner: PausableMiner, clock: Clock, stopped: AbortSignal): void {
  let lookedAt: number | null = null
  const look = () => {
    const nowMs = clock.wallMs()
    const minute = Math.floor(nowMs / MINUTE_MS)
    if (minute === lookedAt) return
    lookedAt = minute
    miner.hold('schedule', closedText(schedule, nowMs))
  }
  look()
  every(clock, CLOCK_MS, stopped, look)
}

/** Why the miner is paused, or null if the schedule allows mining. */
function closedText(schedule: Schedule, nowMs: number): string | null {
  if (isOpen(schedule, localTime(nowMs))) return null
  const nextMs = nextChangeMs(schedule, nowMs, localTime)
  return nextMs === null ? 'by the schedule' : `until ${clockText(nextMs, nowMs, localTime)} by the schedule`
}

function followLoad(gate: LoadPauser, miner: PausableMiner, clock: Clock, stopped: AbortSignal): void {
  let before: CpuLoad | null = null
  let isReading = false
  const look = async () => {
    if (isReading) return
    isReading = true
    const reading = await readLoad()
    isReading = false
    if (reading === null || stopped.aborted) return
    if (before !== null) gate.addSample(before.atMs, reading.atMs, fractionOfOthers(before, reading))
    before = reading
    const percent = `${Math.round(gate.fraction * 100)} %`
    miner.hold('load', gate.isBusy ? `while other programs use ${percent} of the machine` : null)
  }
  void look()
  every(clock, LOAD_MS, stopped, () => void look())
}
