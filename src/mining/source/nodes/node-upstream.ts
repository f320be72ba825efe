/** One of several nodes: whether it answers, how far its chains are, and why it may be unfit to give work. */

import { isRetryable, NodeRefusal } from '#client/node/errors.ts'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { describeError, NewcutError } from '#ground/base/errors.ts'
import { withFirstOf } from '#ground/base/signals.ts'
import { formatDuration } from '#ground/base/units.ts'
import type { NodeHealth } from '../failover/choose.ts'
import type { Upstream } from '../failover/failover.ts'
import type { NodeSource } from '../node/node-source.ts'
import type { UpstreamStatus } from '../source.ts'
import { blocksOfCut, ChainContinuity, type NamedBlock } from './continuity.ts'
import { lagOf, MAX_LAG } from './lag.ts'
import type { NodeNetwork, ReachedNode, ReportedCut } from './reached-node.ts'

/** A node from the configuration. */
export interface ConfiguredNode {
  /** Base URL, without user and password. */
  readonly url: string
  /** Null until it has answered. */
  readonly reached: ReachedNode | null
  /**
   * Connects to the node.
   * @throws NewcutError, or the reason of the signal
   */
  readonly connect: (signal: AbortSignal) => Promise<ReachedNode>
}

/** Timeout of a request for the cut. */
const MAX_LOOK_MS = 2_000
/** Timeout of a first connection, with its TLS handshake and the request for the network. */
const MAX_CONNECT_MS = 5_000
/** Pause before the second attempt: a single failed connection does not mean that the node is down. */
const SECOND_LOOK_MS = 100
/** A node should have blocks that others have had for this time. */
const PROPAGATION_MS = 500
/** Timeout of the question whether the node knows an earlier block. Without an answer it counts as the same node. */
const MAX_VERIFY_MS = 500
/** A node with other chains than before is accepted after this time. */
const STRAY_ACCEPTED_MS = 600_000
/** Pause between attempts at a node that the user has to fix: a wrong address, certificate or network. */
const LONG_PAUSE_MS = 30_000

/** A cut, with the monotonic times of the request and of the answer. */
interface TimedCut extends ReportedCut {
  readonly askedAtMs: number
  readonly atMs: number
}

/** A temporary reason against a node. */
interface UnhealthyMark {
  readonly why: string
  readonly untilMs: number
  /** Set if the node refuses this miner: it gets no requests for work. */
  readonly refusal: NewcutError | null
}

/** Why the node is not fit to give work, as a sentence without its subject. */
interface NodeProblem {
  readonly kind: 'foreign' | 'down' | 'stray' | 'objection' | 'behind'
  readonly text: string
}

export class NodeUpstream implements Upstream<NodeSource> {
  readonly url: string
  reached: ReachedNode | null
  /** Counts how often it came up. Requests of an earlier epoch may hang. */
  epoch = 0
  #problem: NodeProblem | null = null
  /** Time since which there has been a problem, or none. */
  #sinceMs: number
  readonly #connect: ConfiguredNode['connect']
  readonly #sourceOf: (upstream: NodeUpstream) => NodeSource
  readonly #network: NodeNetwork
  readonly #clock: Clock
  #isUp = false
  #silentSinceMs: number | null = null
  /** Why it does not answer, or null if it does or was not asked yet. */
  #failure: string | null = null
  #foreign: string | null = null
  /** A block that it no longer knows, with the time of discovery, or null if its chains continue the earlier ones. */
  #stray: { readonly block: NamedBlock; readonly sinceMs: number } | null = null
  readonly #continuity = new ChainContinuity()
  #unfitMark: UnhealthyMark | null = null
  #latencyMs: number | null = null
  /** The newest cuts, the newest first. */
  #cuts: readonly TimedCut[] = []
  #lag: number | null = null
  #isChecking = false
  /** False after it has refused blocks. */
  #takesBlocks = true
  #isTaking = false
  /** Whether it needs blocks: another node got new ones after the last transfer. */
  #isBehind = false
  #notBeforeMs = 0

  /** @param sourceOf creates a source of work from the node */
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

  /** Time of the request that it failed to answer, or null if it is up or never was. */
  get silentSinceMs(): number | null {
    return this.#isUp ? null : this.#silentSinceMs
  }

  /** Set while it refuses this miner. */
  get refusal(): NewcutError | null {
    return this.#unfitMark?.refusal ?? null
  }

  get fitness(): NodeHealth {
    const isUp = this.isUp && this.refusal === null
    return { isUp, fitSinceMs: isUp && this.#problem === null ? this.#sinceMs : null }
  }

  open(): NodeSource {
    return this.#sourceOf(this)
  }

  status(isActive: boolean): UpstreamStatus {
    const newest = this.isUp ? this.#cuts[0] : undefined
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

  /** Marks it as unfit for this time. It gives work meanwhile only if no other node can. */
  markUnfit(why: string, forMs: number, refusal: NewcutError | null = null): void {
    this.#unfitMark = { why, untilMs: this.#clock.monotonicMs() + forMs, refusal }
    if (refusal !== null) this.epoch++
  }

  /** Clears the mark: it gives work. */
  markFit(): void {
    this.#unfitMark = null
  }

  /** Gets the blocks that it lacks from another node, unless it takes none. Concurrent calls share one transfer. */
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
      // Nodes also exchange blocks themselves.
      if (!(error instanceof NewcutError)) throw error
    } finally {
      this.#isTaking = false
    }
  }

  /**
   * Requests its cut, unless a request is running.
   * @throws errors that the node did not cause, and the reason of the signal
   */
  async check(signal: AbortSignal): Promise<void> {
    if (this.#isChecking || this.#clock.monotonicMs() < this.#notBeforeMs) return
    this.#isChecking = true
    const askedAtMs = this.#clock.monotonicMs()
    try {
      await this.#requestCut(signal).catch(async (error) => {
        if (!this.#isUp || error instanceof NoAnswerError || !(error instanceof NewcutError)) throw error
        await sleep(this.#clock, SECOND_LOOK_MS, signal)
        // Paths contain the network name, so a node of another network refuses.
        await this.#requestCut(signal, error instanceof NodeRefusal && error.isNodesOwn)
      })
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof NewcutError)) throw error
      if (this.#isUp) this.#silentSinceMs = askedAtMs
      this.#isUp = false
      this.#foreign = null
      this.#failure = describeError(error)
      if (this.reached === null && !isRetryable(error) && !(error instanceof NoAnswerError)) this.#pauseChecks()
    } finally {
      this.#isChecking = false
    }
  }

  #pauseChecks(): void {
    this.#notBeforeMs = this.#clock.monotonicMs() + LONG_PAUSE_MS
  }

  async #requestCut(signal: AbortSignal, isOther = !this.#isUp): Promise<void> {
    if (this.reached === null) {
      this.reached = await this.#withTimeout(MAX_CONNECT_MS, signal, (ends) => this.#connect(ends))
    }
    const { reached } = this
    if (isOther && (await this.#isForeign(reached, signal))) return
    const askedAtMs = this.#clock.monotonicMs()
    const cut = await this.#withTimeout(MAX_LOOK_MS, signal, (ends) => reached.heads(ends))
    const atMs = this.#clock.monotonicMs()
    await this.#compare(reached, blocksOfCut(cut.heads), signal)
    if (this.#foreign !== null) return
    this.#latencyMs = atMs - askedAtMs
    this.#cuts = [{ ...cut, askedAtMs, atMs }, ...this.#cuts.slice(0, 2)]
    if (!this.#isUp) this.epoch++
    this.#isUp = true
    this.#silentSinceMs = null
    this.#failure = null
  }

  /** Checks its network. A node of another network counts as down, with a long pause if it was never one of ours. */
  async #isForeign(reached: ReachedNode, signal: AbortSignal): Promise<boolean> {
    const { name, identity } = await this.#withTimeout(MAX_LOOK_MS, signal, (ends) => reached.network(ends))
    this.#foreign = identity === this.#network.identity ? null : name
    if (this.#foreign === null) return false
    this.#isUp = false
    if (this.#cuts.length === 0) this.#pauseChecks()
    return true
  }

  /**
   * Whether these blocks of the node continue its earlier chains.
   * @throws the reason of the signal
   */
  async isContinuedBy(blocks: readonly NamedBlock[], signal: AbortSignal): Promise<boolean> {
    if (this.reached !== null && this.#foreign === null && this.#stray === null) {
      await this.#compare(this.reached, blocks, signal)
    }
    return this.#foreign === null && this.#stray === null
  }

  /**
   * Compares blocks of the node with its earlier ones. If they do not continue them, it is marked as stray or foreign.
   */
  async #compare(reached: ReachedNode, blocks: readonly NamedBlock[], signal: AbortSignal): Promise<void> {
    const doubt = this.#continuity.blockToVerify(blocks)
    try {
      if (doubt !== null && !(await this.#withTimeout(MAX_VERIFY_MS, signal, (ends) => reached.knows(doubt, ends)))) {
        this.#stray ??= { block: doubt, sinceMs: this.#clock.monotonicMs() }
        await this.#isForeign(reached, signal)
        return
      }
    } catch (error) {
      signal.throwIfAborted()
      // Without an answer, the next check asks again.
      if (error instanceof NewcutError) return
      throw error
    }
    this.#stray = null
    this.#continuity.add(blocks)
  }

  /**
   * Updates its problem, compared with the other nodes.
   * @returns the change as a sentence without its subject, or null if nothing changed
   */
  judge(others: readonly NodeUpstream[]): { readonly isWell: boolean; readonly text: string } | null {
    const nowMs = this.#clock.monotonicMs()
    if (this.#unfitMark !== null && this.#unfitMark.untilMs <= nowMs) this.#unfitMark = null
    this.#clearStray(others)
    const before = this.#problem
    this.#problem = this.#findProblem(others)
    if (before?.kind === this.#problem?.kind) return null
    const lastedMs = nowMs - this.#sinceMs
    if (before === null || this.#problem === null) this.#sinceMs = nowMs
    if (this.#problem !== null) return { isWell: false, text: this.#problem.text }
    return { isWell: true, text: `is fit again, after ${formatDuration(lastedMs)}` }
  }

  #findProblem(others: readonly NodeUpstream[]): NodeProblem | null {
    if (this.#foreign !== null) {
      return { kind: 'foreign', text: `is of another network: ${this.#foreign}, not ${this.#network.name}` }
    }
    if (this.#failure !== null) return { kind: 'down', text: `does not answer: ${this.#failure}` }
    if (this.#stray !== null) {
      const { hash, chain } = this.#stray.block
      return { kind: 'stray', text: `has other chains than before: it does not know block ${hash} of chain ${chain}` }
    }
    if (this.#unfitMark !== null) return { kind: 'objection', text: this.#unfitMark.why }
    const [newest] = this.#cuts
    if (newest === undefined) return null
    const earlier = others.flatMap((other) =>
      other.#isTrusted ? other.#seenBy(newest.askedAtMs - PROPAGATION_MS) : [],
    )
    this.#lag = lagOf(newest, earlier)
    if (this.#lag <= MAX_LAG) return null
    return { kind: 'behind', text: `is ${this.#lag.toFixed(1)} blocks behind the others` }
  }

  /** Clears the `stray` mark when another node knows one of its heads, or after STRAY_ACCEPTED_MS. */
  #clearStray(others: readonly NodeUpstream[]): void {
    const [newest] = this.#cuts
    if (this.#stray === null || newest === undefined) return
    const { sinceMs } = this.#stray
    const cuts = others.flatMap((other) => (other.#isTrusted ? other.#cuts : []))
    const known = new Set(cuts.flatMap(({ heads }) => blocksOfCut(heads)).map(({ hash }) => hash))
    const isAgreed = newest.askedAtMs >= sinceMs && blocksOfCut(newest.heads).some(({ hash }) => known.has(hash))
    if (!isAgreed && this.#clock.monotonicMs() - sinceMs < STRAY_ACCEPTED_MS) return
    this.#stray = null
    this.#continuity.forget()
  }

  /** Whether its cuts show how far the network is. */
  get #isTrusted(): boolean {
    return this.#isUp && this.#stray === null
  }

  /** The newest cut that was known at that time. */
  #seenBy(atMs: number): TimedCut[] {
    return this.#cuts.filter((seen) => seen.atMs <= atMs).slice(0, 1)
  }

  async #withTimeout<T>(limitMs: number, signal: AbortSignal, call: (ends: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController()
    const cancel = this.#clock.after(limitMs, () => late.abort(new NoAnswerError(this.url, limitMs)))
    try {
      return await withFirstOf([signal, late.signal], (ends) => {
        ends.throwIfAborted()
        return call(ends)
      })
    } finally {
      cancel()
    }
  }
}

class NoAnswerError extends NewcutError {
  constructor(url: string, limitMs: number) {
    super('NODE_UNREACHABLE', `${url}: no answer within ${limitMs / 1000} s`)
  }
}
