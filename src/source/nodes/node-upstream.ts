/** One of several nodes: whether it answers, how far its chains are, and what speaks against taking work from it. */
import { type Clock, sleep } from '../../core/clock.ts'
import { describeError, NewcutError } from '../../core/errors.ts'
import { formatDuration } from '../../core/units.ts'
import { isRetryable, NodeRefusal } from '../../node/errors.ts'
import type { Fitness } from '../failover/choose.ts'
import type { Upstream } from '../failover/failover.ts'
import type { NodeSource } from '../node/node-source.ts'
import type { UpstreamStatus } from '../source.ts'
import { blocksOfCut, Continuity, type NamedBlock } from './continuity.ts'
import { lagOf, MAX_LAG } from './lag.ts'
import type { NodeNetwork, ReachedNode, ToldCut } from './reached-node.ts'

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
/** A node that does not say within this whether it knows a block is taken for the one that it was. */
const MAX_DOUBT_MS = 500
/** A node that goes on from other chains than before is taken as it is after this time. */
const STRAY_MS = 600_000
/** Between two attempts at a node that needs the user: its address or certificate is wrong, or its network. */
const LONG_PAUSE_MS = 30_000

/** A cut, and when it was asked for and known. */
interface Seen extends ToldCut {
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
  readonly kind: 'foreign' | 'down' | 'stray' | 'objection' | 'behind'
  readonly text: string
}

export class NodeUpstream implements Upstream<NodeSource> {
  readonly url: string
  reached: ReachedNode | null
  /** Counts how often it came up: what began before may hang. */
  epoch = 0
  #problem: Problem | null = null
  /** Since when there is a problem, or none. */
  #sinceMs: number
  readonly #connect: ConfiguredNode['connect']
  readonly #sourceOf: (upstream: NodeUpstream) => NodeSource
  readonly #network: NodeNetwork
  readonly #clock: Clock
  #isUp = false
  #silentSinceMs: number | null = null
  /** Why it does not answer; null: it does, or was not asked yet. */
  #failure: string | null = null
  #foreign: string | null = null
  /** A block that it does not know any more, and since when; null: its chains go on from those before. */
  #stray: { readonly block: NamedBlock; readonly sinceMs: number } | null = null
  readonly #continuity = new Continuity()
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

  /** `sourceOf`: makes a new source of work from the node. */
  constructor(
    { url, reached, connect }: ConfiguredNode,
    network: NodeNetwork,
    clock: Clock,
    sourceOf: (upstream: NodeUpstream) => NodeSource,
  ) {
    this.url = url
    this.reached = reached
    this.#connect = connect
    this.#network = network
    this.#sourceOf = sourceOf
    this.#clock = clock
    this.#isUp = reached !== null
    this.#sinceMs = clock.monotonicMs()
  }

  get isUp(): boolean {
    return this.#isUp
  }

  /** When it was asked what it did not answer, and has been down for since; null: it is up, or never was. */
  get silentSinceMs(): number | null {
    return this.#isUp ? null : this.#silentSinceMs
  }

  /** Set while it refuses this miner. */
  get refusal(): NewcutError | null {
    return this.#objection?.refusal ?? null
  }

  get fitness(): Fitness {
    const isUp = this.isUp && this.refusal === null
    return { isUp, fitSinceMs: isUp && this.#problem === null ? this.#sinceMs : null }
  }

  open(): NodeSource {
    return this.#sourceOf(this)
  }

  status(isActive: boolean): UpstreamStatus {
    const newest = this.isUp ? this.#seen[0] : undefined
    return {
      url: this.url,
      up: this.isUp,
      active: isActive,
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
    const askedAtMs = this.#clock.monotonicMs()
    try {
      await this.#look(signal).catch(async (error) => {
        if (!this.#isUp || error instanceof NoAnswer || !(error instanceof NewcutError)) throw error
        await sleep(this.#clock, SECOND_LOOK_MS, signal)
        // The name of the network is a part of every path: one of another network refuses.
        await this.#look(signal, error instanceof NodeRefusal && error.isNodesOwn)
      })
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof NewcutError)) throw error
      if (this.#isUp) this.#silentSinceMs = askedAtMs
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

  async #look(signal: AbortSignal, isOther = !this.#isUp): Promise<void> {
    if (this.reached === null) {
      this.reached = await this.#within(MAX_CONNECT_MS, signal, (ends) => this.#connect(ends))
    }
    const { reached } = this
    if (isOther && (await this.#isForeign(reached, signal))) return
    const askedAtMs = this.#clock.monotonicMs()
    const cut = await this.#within(MAX_LOOK_MS, signal, (ends) => reached.heads(ends))
    const atMs = this.#clock.monotonicMs()
    await this.#compare(reached, blocksOfCut(cut.heads), signal)
    if (this.#foreign !== null) return
    this.#latencyMs = atMs - askedAtMs
    this.#seen = [{ ...cut, askedAtMs, atMs }, ...this.#seen.slice(0, 2)]
    if (!this.#isUp) this.epoch++
    this.#isUp = true
    this.#silentSinceMs = null
    this.#failure = null
  }

  /** Asks it for its network. One of another network is down, and left alone for a while if it was never of ours. */
  async #isForeign(reached: ReachedNode, signal: AbortSignal): Promise<boolean> {
    const { name, identity } = await this.#within(MAX_LOOK_MS, signal, (ends) => reached.network(ends))
    this.#foreign = identity === this.#network.identity ? null : name
    if (this.#foreign === null) return false
    this.#isUp = false
    if (this.#seen.length === 0) this.#rest()
    return true
  }

  /** Whether these blocks, of which the node tells, go on from those before. Throws the signal's reason. */
  async isContinuedBy(blocks: readonly NamedBlock[], signal: AbortSignal): Promise<boolean> {
    if (this.reached !== null && this.#foreign === null && this.#stray === null) {
      await this.#compare(this.reached, blocks, signal)
    }
    return this.#foreign === null && this.#stray === null
  }

  /** Whether blocks that it tells of go on from those before: if not, it has strayed or is of another network. */
  async #compare(reached: ReachedNode, blocks: readonly NamedBlock[], signal: AbortSignal): Promise<void> {
    const doubt = this.#continuity.doubt(blocks)
    try {
      if (doubt !== null && !(await this.#within(MAX_DOUBT_MS, signal, (ends) => reached.knows(doubt, ends)))) {
        this.#stray ??= { block: doubt, sinceMs: this.#clock.monotonicMs() }
        await this.#isForeign(reached, signal)
        return
      }
    } catch (error) {
      signal.throwIfAborted()
      // Whoever does not say is asked again.
      if (error instanceof NewcutError) return
      throw error
    }
    this.#stray = null
    this.#continuity.tell(blocks)
  }

  /** Judges it beside the other nodes. Returns what changed, as a sentence without its subject; null: nothing. */
  judge(others: readonly NodeUpstream[]): { readonly isWell: boolean; readonly text: string } | null {
    const nowMs = this.#clock.monotonicMs()
    if (this.#objection !== null && this.#objection.untilMs <= nowMs) this.#objection = null
    this.#forgive(others)
    const before = this.#problem
    this.#problem = this.#findProblem(others)
    if (before?.kind === this.#problem?.kind) return null
    const lastedMs = nowMs - this.#sinceMs
    if (before === null || this.#problem === null) this.#sinceMs = nowMs
    if (this.#problem !== null) return { isWell: false, text: this.#problem.text }
    return { isWell: true, text: `is fit again, after ${formatDuration(lastedMs)}` }
  }

  #findProblem(others: readonly NodeUpstream[]): Problem | null {
    if (this.#foreign !== null) {
      return { kind: 'foreign', text: `is of another network: ${this.#foreign}, not ${this.#network.name}` }
    }
    if (this.#failure !== null) return { kind: 'down', text: `does not answer: ${this.#failure}` }
    if (this.#stray !== null) {
      const { hash, chain } = this.#stray.block
      return { kind: 'stray', text: `has other chains than before: it does not know block ${hash} of chain ${chain}` }
    }
    if (this.#objection !== null) return { kind: 'objection', text: this.#objection.why }
    const [newest] = this.#seen
    if (newest === undefined) return null
    const earlier = others.flatMap((other) => (other.#isTrusted ? other.#seenBy(newest.askedAtMs - SPREAD_MS) : []))
    this.#lag = lagOf(newest, earlier)
    if (this.#lag <= MAX_LAG) return null
    return { kind: 'behind', text: `is ${this.#lag.toFixed(1)} blocks behind the others` }
  }

  /** One that strayed is taken as it is once it has a head that others have or had, or after a long time. */
  #forgive(others: readonly NodeUpstream[]): void {
    const [newest] = this.#seen
    if (this.#stray === null || newest === undefined) return
    const { sinceMs } = this.#stray
    const cuts = others.flatMap((other) => (other.#isTrusted ? other.#seen : []))
    const known = new Set(cuts.flatMap(({ heads }) => blocksOfCut(heads)).map(({ hash }) => hash))
    const isAgreed = newest.askedAtMs >= sinceMs && blocksOfCut(newest.heads).some(({ hash }) => known.has(hash))
    if (!isAgreed && this.#clock.monotonicMs() - sinceMs < STRAY_MS) return
    this.#stray = null
    this.#continuity.forget()
  }

  /** Whether its cuts say how far the network is. */
  get #isTrusted(): boolean {
    return this.#isUp && this.#stray === null
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
