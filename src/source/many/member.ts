/** One of several nodes: whether it answers, how far its chains are, and what speaks against taking work from it. */
import { type Clock, sleep } from '../../core/clock.ts'
import { describeError, NewcutError } from '../../core/errors.ts'
import { formatDuration } from '../../core/units.ts'
import { isRetryable } from '../../node/errors.ts'
import type { NodeStatus } from '../source.ts'
import { type Heads, lagOf, MAX_LAG, type Standing } from './choose.ts'
import type { NodeNetwork, ReachedNode } from './reached-node.ts'

/** A node that was named to the miner. */
export interface ConfiguredNode {
  /** Its address, without user and password. */
  readonly url: string
  /** Null: it has not answered yet. */
  readonly reached: ReachedNode | null
  /** Throws NewcutError, or the signal's reason. */
  readonly connect: (signal: AbortSignal) => Promise<ReachedNode>
}

/** A node that has not told its cut within this does not answer. */
const MAX_LOOK_MS = 2_000
const MAX_CONNECT_MS = 5_000
/** A connection may break by itself: it is asked once more before it counts as down. */
const SECOND_LOOK_MS = 100
/** Blocks that others have had for so long, a node should have as well. */
const SPREAD_MS = 500
/** Between two attempts at a node that needs the user: its address or certificate is wrong, or its network. */
const LONG_PAUSE_MS = 30_000

/** A cut, and when it was asked for and known. */
interface Seen extends Heads {
  readonly askedAtMs: number
  readonly atMs: number
}

/** What speaks against a node for a while. */
interface Objection {
  readonly why: string
  readonly untilMs: number
  /** Set when the node refuses this miner: no work is asked for meanwhile. */
  readonly refusal: NewcutError | null
}

/** Why no work is taken from a node, as a sentence without its subject. */
interface Problem {
  readonly kind: 'foreign' | 'down' | 'objection' | 'behind'
  readonly text: string
}

export class Member {
  readonly url: string
  reached: ReachedNode | null
  /** Counts how often it came up: what began before may hang. */
  epoch = 0
  #problem: Problem | null = null
  /** Since when there is a problem, or none. */
  #sinceMs: number
  readonly #connect: ConfiguredNode['connect']
  readonly #network: NodeNetwork
  readonly #clock: Clock
  #isUp = false
  /** Why it does not answer; null: it does, or was not asked yet. */
  #failure: string | null = null
  #foreign: string | null = null
  #objection: Objection | null = null
  #latencyMs: number | null = null
  /** The newest cuts, newest first. */
  #seen: readonly Seen[] = []
  #lag: number | null = null
  #isChecking = false
  /** False once it has refused one. */
  #takesBlocks = true
  #isTaking = false
  /** Whether another node has had new blocks since it was last given some. */
  #isBehind = false
  #notBeforeMs = 0

  constructor({ url, reached, connect }: ConfiguredNode, network: NodeNetwork, clock: Clock) {
    this.url = url
    this.reached = reached
    this.#connect = connect
    this.#network = network
    this.#clock = clock
    this.#isUp = reached !== null
    this.#sinceMs = clock.monotonicMs()
  }

  get isUp(): boolean {
    return this.#isUp
  }

  /** Set while it refuses this miner. */
  get refusal(): NewcutError | null {
    return this.#objection?.refusal ?? null
  }

  get standing(): Standing {
    const isUp = this.isUp && this.refusal === null
    return { isUp, fitSinceMs: isUp && this.#problem === null ? this.#sinceMs : null }
  }

  status(active: boolean): NodeStatus {
    const newest = this.isUp ? this.#seen[0] : undefined
    return {
      url: this.url,
      up: this.isUp,
      active,
      lag: newest === undefined ? null : this.#lag,
      latencyMs: this.isUp ? this.#latencyMs : null,
      height: newest === undefined ? null : [...newest.heights.values()].reduce((sum, height) => sum + height, 0),
      version: this.reached?.version ?? null,
      problem: this.#problem?.text ?? null,
    }
  }

  /** No work is taken from it for that long, unless no other node can give any. */
  object(why: string, forMs: number, refusal: NewcutError | null = null): void {
    this.#objection = { why, untilMs: this.#clock.monotonicMs() + forMs, refusal }
    if (refusal !== null) this.epoch++
  }

  /** It gives work. */
  works(): void {
    this.#objection = null
  }

  /** Gets the blocks of another node that it lacks, unless it takes none. One call at a time gives them. */
  async takeBlocksOf(other: ReachedNode): Promise<void> {
    this.#isBehind = true
    if (this.#isTaking) return
    this.#isTaking = true
    try {
      while (this.#isBehind && this.#isUp && this.#takesBlocks && this.reached !== null) {
        this.#isBehind = false
        this.#takesBlocks = await other.giveTo(this.reached)
      }
    } catch (error) {
      // Nodes give blocks to each other as well.
      if (!(error instanceof NewcutError)) throw error
    } finally {
      this.#isTaking = false
    }
  }

  /** Asks it for its cut, unless that is under way. Throws what is no failure of the node, and the signal's reason. */
  async check(signal: AbortSignal): Promise<void> {
    if (this.#isChecking || this.#clock.monotonicMs() < this.#notBeforeMs) return
    this.#isChecking = true
    try {
      await this.#look(signal).catch(async (error) => {
        if (!this.#isUp || error instanceof NoAnswer || !(error instanceof NewcutError)) throw error
        await sleep(this.#clock, SECOND_LOOK_MS, signal)
        await this.#look(signal)
      })
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof NewcutError)) throw error
      this.#isUp = false
      this.#foreign = null
      this.#failure = describeError(error)
      if (this.reached === null && !isRetryable(error) && !(error instanceof NoAnswer)) this.#rest()
    } finally {
      this.#isChecking = false
    }
  }

  #rest(): void {
    this.#notBeforeMs = this.#clock.monotonicMs() + LONG_PAUSE_MS
  }

  async #look(signal: AbortSignal): Promise<void> {
    if (this.reached === null) {
      this.reached = await this.#within(MAX_CONNECT_MS, signal, (ends) => this.#connect(ends))
    }
    const { reached } = this
    if (!this.#isUp) {
      const { name, identity } = await this.#within(MAX_LOOK_MS, signal, (ends) => reached.network(ends))
      this.#foreign = identity === this.#network.identity ? null : name
      if (this.#foreign !== null) return this.#rest()
    }
    const askedAtMs = this.#clock.monotonicMs()
    const heads = await this.#within(MAX_LOOK_MS, signal, (ends) => reached.heads(ends))
    const atMs = this.#clock.monotonicMs()
    this.#latencyMs = atMs - askedAtMs
    this.#seen = [{ ...heads, askedAtMs, atMs }, ...this.#seen.slice(0, 2)]
    if (!this.#isUp) this.epoch++
    this.#isUp = true
    this.#failure = null
  }

  /** Judges it beside the other nodes. Returns what changed, as a sentence without its subject; null: nothing. */
  judge(others: readonly Member[]): { readonly isWell: boolean; readonly text: string } | null {
    const nowMs = this.#clock.monotonicMs()
    if (this.#objection !== null && this.#objection.untilMs <= nowMs) this.#objection = null
    const before = this.#problem
    this.#problem = this.#findProblem(others)
    if (before?.kind === this.#problem?.kind) return null
    const lastedMs = nowMs - this.#sinceMs
    if (before === null || this.#problem === null) this.#sinceMs = nowMs
    if (this.#problem !== null) return { isWell: false, text: this.#problem.text }
    return { isWell: true, text: `is fit again, after ${formatDuration(lastedMs)}` }
  }

  #findProblem(others: readonly Member[]): Problem | null {
    if (this.#foreign !== null) {
      return { kind: 'foreign', text: `is of another network: ${this.#foreign}, not ${this.#network.name}` }
    }
    if (this.#failure !== null) return { kind: 'down', text: `does not answer: ${this.#failure}` }
    if (this.#objection !== null) return { kind: 'objection', text: this.#objection.why }
    const [newest] = this.#seen
    if (newest === undefined) return null
    const earlier = others.flatMap((other) => (other.isUp ? other.#seenBy(newest.askedAtMs - SPREAD_MS) : []))
    this.#lag = lagOf(newest, earlier)
    if (this.#lag <= MAX_LAG) return null
    return { kind: 'behind', text: `is ${this.#lag.toFixed(1)} blocks behind the others` }
  }

  /** The newest cut that was known by then. */
  #seenBy(atMs: number): Seen[] {
    return this.#seen.filter((seen) => seen.atMs <= atMs).slice(0, 1)
  }

  async #within<T>(limitMs: number, signal: AbortSignal, call: (ends: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController()
    const stop = () => controller.abort(signal.reason)
    const cancel = this.#clock.after(limitMs, () => controller.abort(new NoAnswer(this.url, limitMs)))
    signal.addEventListener('abort', stop, { once: true })
    try {
      signal.throwIfAborted()
      return await call(controller.signal)
    } finally {
      cancel()
      signal.removeEventListener('abort', stop)
    }
  }
}

class NoAnswer extends NewcutError {
  constructor(url: string, limitMs: number) {
    super('NODE_UNREACHABLE', `${url}: no answer within ${limitMs / 1000} s`)
  }
}
