/**
 * Pool sessions for rigs: one for each rig, plus a logged-in spare. So the next rig gets its nonce1 and a job at once.
 * All sessions use the pool of the current work.
 */
import { backoffMs } from '#ground/base/backoff.ts'
import type { Clock } from '#ground/base/clock.ts'
import { describeError, type NewcutError } from '#ground/base/errors.ts'
import type { RigPoolSession, RigPoolSessions, RigSlot } from '../../stratum/passthrough.ts'
import type { PoolAddress } from './address.ts'
import type { PoolTrust } from './connection.ts'
import { OpenRigPoolSession } from './rig-pool-session.ts'
import type { PoolRedirection } from './session.ts'

/** The pool of the current work. */
interface ChosenPool {
  /** Null before the first. */
  readonly chosen: PoolAddress | null
  /** Calls `listener` for another pool, and for the same one when it is back. */
  onChosen(listener: (pool: PoolAddress) => void): () => void
}

interface RigPoolSessionsOptions {
  readonly pools: ChosenPool
  readonly trust: PoolTrust
  /** Agent name of the miner, such as `newcut/0.1.0`. */
  readonly agent: string
  readonly clock: Clock
  /** Uniform in [0, 1), for the jitter of pauses. */
  readonly random: () => number
  /** Maximum number of sessions with one pool, including the spare. */
  readonly most: number
  /** Length of the work that rigs support. */
  readonly workBytes: number
}

/** Maximum number of concurrent log-ins: a pool may take more for an attack. */
const MAX_DIALING = 8
/** Maximum number of spares: one is opened, and a rig may return one unused. */
const MAX_SPARES = 2
/**
 * Session rate after a burst of as many sessions as allowed, so that reconnecting rigs do not get this address banned.
 */
const OPENED_PER_SECOND = 4
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 15_000
/** A session of this duration resets the pause. */
const GOOD_MS = 60_000
/**
 * Rig programs that pools get to know after our agent name, because pools choose first targets by it. Programs with
 * another nonce order are not listed: the session may later serve another rig.
 */
const PASSED_ON_AGENTS = /^(?:godminer|ckbminer|kdaminer|goldshell|bfgminer|ibelink|bm-k)[\w ./-]{0,40}$/i

interface SessionRequest {
  readonly seat: OpenSeat
  readonly agent: string
  readonly onLine: (line: RigPoolSession) => void
}

interface OpenSeat extends RigSlot {
  /** Sessions of the rig: two while it moves to another pool. */
  readonly lines: Set<OpenRigPoolSession>
}

export class OpenRigPoolSessions implements RigPoolSessions {
  readonly #options: RigPoolSessionsOptions
  readonly #seats = new Set<OpenSeat>()
  readonly #dialing = new Set<OpenRigPoolSession>()
  /** Logged-in sessions without a rig. */
  readonly #spares: OpenRigPoolSession[] = []
  #waiting: readonly SessionRequest[] = []
  #pool: PoolAddress | null
  /** Address to which the pool redirected its clients, or null for its own. */
  #move: PoolAddress | null = null
  #agent = ''
  /** Consecutive failed log-ins and short sessions. */
  #attempts = 0
  #cancelPause: (() => void) | null = null
  /** Sessions that may be opened now, as of `#budgetAtMs`. */
  #budget: number
  #budgetAtMs: number
  /** Whether the last log-in failed. */
  #isFailing = false
  /** Whether to keep a spare session. */
  #isOpen = false
  #isClosed = false
  readonly #unlisten: () => void
  #onTrouble: (message: string) => void = () => undefined

  constructor(options: RigPoolSessionsOptions) {
    this.#options = options
    this.#pool = options.pools.chosen
    this.#budget = options.most + 1
    this.#budgetAtMs = options.clock.monotonicMs()
    this.#unlisten = options.pools.onChosen((pool) => this.#choose(pool))
  }

  get most(): number {
    return this.#options.most
  }

  get sessions(): number {
    const held = [...this.#seats].reduce((sum, { lines }) => sum + lines.size, 0)
    return held + this.#dialing.size + this.#spares.length
  }

  open(onTrouble: (message: string) => void): void {
    this.#onTrouble = onTrouble
    this.#isOpen = true
    this.#openSessions()
  }

  seat(): RigSlot | null {
    if (this.#isClosed || this.#seats.size >= this.#options.most) return null
    const seat: OpenSeat = {
      lines: new Set(),
      request: (agent, onLine) => this.#request({ seat, agent, onLine }),
      drop: (line) => {
        for (const each of seat.lines) {
          if (each !== line) continue
          seat.lines.delete(each)
          each.close()
        }
      },
      release: () => {
        this.#waiting = this.#waiting.filter((request) => request.seat !== seat)
        this.#seats.delete(seat)
        for (const line of seat.lines) this.#takeBack(line)
        seat.lines.clear()
        this.#openSessions()
      },
    }
    this.#seats.add(seat)
    return seat
  }

  close(): void {
    this.#isClosed = true
    this.#unlisten()
    this.#cancelPause?.()
    this.#waiting = []
    for (const { lines } of this.#seats) for (const line of lines) line.close()
    for (const line of this.#dialing) line.close()
    for (const line of this.#spares.splice(0)) line.close()
    this.#seats.clear()
    this.#dialing.clear()
  }

  /** Takes a session back from a rig. An unused one becomes a spare. */
  #takeBack(line: OpenRigPoolSession): void {
    if (line.isUsed || line.home !== this.#pool) line.close()
    else {
      line.detach()
      this.#give(line)
    }
  }

  #request(request: SessionRequest): void {
    if (PASSED_ON_AGENTS.test(request.agent)) this.#agent = request.agent
    this.#waiting = [...this.#waiting.filter(({ seat }) => seat !== request.seat), request]
    const spare = this.#spares.shift()
    if (spare !== undefined) this.#give(spare)
    this.#openSessions()
  }

  /** Gives a logged-in session to the first waiting rig, or keeps it as a spare. */
  #give(line: OpenRigPoolSession): void {
    const [first, ...others] = this.#waiting
    if (first === undefined) {
      if (this.#spares.length < Math.min(MAX_SPARES, this.#options.most - this.#seats.size)) this.#spares.push(line)
      else line.close()
      return
    }
    this.#waiting = others
    first.seat.lines.add(line)
    first.onLine(line)
  }

  /** Opens the sessions that are needed, a few at a time. */
  #openSessions(): void {
    if (this.#isClosed || this.#pool === null || this.#cancelPause !== null) return
    const spare = this.#isOpen && this.#spares.length === 0 && this.#seats.size < this.#options.most ? 1 : 0
    // If log-ins fail, try one at a time.
    const most = this.#isFailing ? 1 : MAX_DIALING
    const wanted = Math.min(most, this.#waiting.length + spare)
    while (this.#dialing.size < wanted) {
      if (!this.#mayOpen()) {
        this.#pause(1000 / OPENED_PER_SECOND)
        return
      }
      this.#dial(this.#pool)
    }
  }

  #mayOpen(): boolean {
    const nowMs = this.#options.clock.monotonicMs()
    const more = (OPENED_PER_SECOND * (nowMs - this.#budgetAtMs)) / 1000
    this.#budget = Math.min(this.#options.most + 1, this.#budget + more)
    this.#budgetAtMs = nowMs
    if (this.#budget < 1) return false
    this.#budget--
    return true
  }

  #dial(home: PoolAddress): void {
    const { trust, agent, clock, workBytes } = this.#options
    const line = new OpenRigPoolSession({
      address: this.#move ?? home,
      home,
      trust,
      clock,
      workBytes,
      agent: this.#agent === '' ? agent : `${agent} (${this.#agent})`,
      onReady: (ready) => this.#logIn(ready),
      onEnd: (ended, reason, move) => this.#handleEnd(ended, reason, move),
    })
    this.#dialing.add(line)
  }

  #logIn(line: OpenRigPoolSession): void {
    if (!this.#dialing.delete(line)) return
    this.#isFailing = false
    this.#give(line)
    this.#openSessions()
  }

  #handleEnd(line: OpenRigPoolSession, reason: NewcutError, move: PoolRedirection | null): void {
    const wasDialing = this.#dialing.delete(line)
    if (this.#spares.includes(line)) this.#spares.splice(this.#spares.indexOf(line), 1)
    for (const { lines } of this.#seats) lines.delete(line)
    if (this.#isClosed || line.home !== this.#pool) return
    this.#move = move?.address ?? (wasDialing ? null : this.#move)
    if (wasDialing && move === null) this.#fail(reason)
    // All sessions may end together, which counts once.
    if (this.#cancelPause !== null) return
    this.#attempts = line.readyMs < GOOD_MS && move === null ? this.#attempts + 1 : 0
    this.#pause(Math.max(move?.waitMs ?? 0, this.#pauseMs))
  }

  #fail(reason: NewcutError): void {
    if (this.#isFailing) return
    this.#isFailing = true
    this.#onTrouble(`no session for a rig: ${describeError(reason)}; trying again`)
  }

  /** Doubles with each consecutive failure. */
  get #pauseMs(): number {
    if (this.#attempts === 0) return 0
    const backoff = { firstMs: FIRST_PAUSE_MS, maxMs: MAX_PAUSE_MS, jitter: 0.5 }
    return backoffMs(backoff, this.#attempts - 1, this.#options.random)
  }

  #pause(ms: number): void {
    this.#cancelPause = this.#options.clock.after(ms, () => {
      this.#cancelPause = null
      this.#openSessions()
    })
  }

  /** Switches to another pool, or reconnects to the same one at once when it is back. */
  #choose(pool: PoolAddress): void {
    this.#attempts = 0
    this.#isFailing = false
    this.#cancelPause?.()
    this.#cancelPause = null
    if (pool === this.#pool) {
      this.#openSessions()
      return
    }
    this.#pool = pool
    this.#move = null
    for (const line of this.#dialing) line.close()
    this.#dialing.clear()
    for (const line of this.#spares.splice(0)) line.close()
    const left = [...this.#seats].flatMap(({ lines }) => [...lines])
    for (const line of left) line.leave()
    this.#openSessions()
  }
}
