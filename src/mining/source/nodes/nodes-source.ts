/**
 * Work from several nodes of one network with failover. The best node by priority and health gives work; all nodes are
 * checked all the time. A solution stays with the node that issued its work, whichever node is active.
 */

import { setMaxListeners } from 'node:events'
import type { NodeClient } from '#client/node/client.ts'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { operatingError } from '#ground/base/errors.ts'
import { after } from '#ground/base/signals.ts'
import type { FollowUp, Receipt } from '#ground/chain/solution.ts'
import type { Work } from '#ground/chain/work.ts'
import { sourceErrors } from '../errors.ts'
import { Failover } from '../failover/failover.ts'
import { Mailbox } from '../mailbox.ts'
import { blockOfSolution, lookUpBlock } from '../node/block-lookup.ts'
import { NodeCalls } from '../node/calls.ts'
import type { MiningNode } from '../node/mining-node.ts'
import { NodeSource } from '../node/node-source.ts'
import { BLOCK_OVERDUE_MS } from '../node/overdue.ts'
import {
  type ChainChoice,
  type ChainStatus,
  type ForkVote,
  type Job,
  type Solution,
  type Source,
  type SourceEvents,
  type UpstreamStatus,
  WORK_LIFE_MS,
} from '../source.ts'
import { blocksOfWork, type NamedBlock } from './continuity.ts'
import { addHelpers } from './helped-node.ts'
import { type ConfiguredNode, NodeUpstream } from './node-upstream.ts'
import type { NodeNetwork } from './reached-node.ts'

interface NodesOptions {
  /** In order of priority. At least one has answered. */
  readonly nodes: readonly ConfiguredNode[]
  /** Network of the nodes that answered. A node of another network is not used. */
  readonly network: NodeNetwork
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** Time for which a node of higher priority must be fit before failback. */
  readonly failbackMs: number
  /** Whether other nodes that take blocks get the found ones. Default: true. */
  readonly shareBlocks?: boolean | undefined
  /** Required depth of a settled block. Default: 1, the head. */
  readonly confirmations?: number | undefined
  /** Chains to mine at first. Default: all. */
  readonly chains?: readonly number[] | undefined
}

/** Interval between checks of a node. */
const CHECK_MS = 1_000
/** Interval of judging the active node, short so that a node without work is left soon after its timeout. */
const JUDGE_MS = 200
/** Interval at which another node is asked while engines have no useful work. */
const STAND_IN_MS = 500
/** Other nodes avoid the parent of a taken solution for this time, in which its block propagates. */
const PARENT_HOLD_MS = BLOCK_OVERDUE_MS
/** The same if its node does not answer: if others lack the block by then, they will not get it soon. */
const SILENT_HOLD_MS = 1_000
/** If no node answers, the current work is dropped after this time: its chain has probably advanced. */
const DROP_WORK_MS = 10_000

/** A pending solution. */
interface PendingSolution {
  readonly sinceMs: number
  /** Whether its node has acknowledged it. */
  isTaken: boolean
  /** Whether it was refused at least once. */
  isRefused: boolean
  /** Functions that let the sources of other nodes search its parent again. */
  readonly reopen: (() => void)[]
}

export class NodesSource implements Source, ChainChoice {
  readonly description: string
  readonly waitReason = null
  readonly workBytes: number
  readonly #options: NodesOptions
  readonly #upstreams: readonly NodeUpstream[]
  readonly #newest = new Mailbox<Job | null>()
  readonly #stopped = new AbortController()
  /** The newest source of each node; it takes the solutions. */
  readonly #sources = new Map<NodeUpstream, NodeSource>()
  readonly #pending = new Map<Solution, PendingSolution>()
  #events: SourceEvents = { onTrouble: () => undefined, onRecovered: () => undefined }
  readonly #failover: Failover<NodeUpstream, NodeSource>
  /** Time since which no node answers, or null. */
  #deadSinceMs: number | null = null
  #isIdle = false
  #chains: readonly number[] | undefined

  constructor(options: NodesOptions) {
    const { nodes, network, clock } = options
    this.#options = options
    this.#chains = options.chains
    this.#upstreams = nodes.map(
      (node) => new NodeUpstream(node, network, clock, (upstream) => this.#newSource(upstream)),
    )
    const first = this.#upstreams.find(({ reached }) => reached !== null)?.reached
    if (first == null) throw new RangeError('none of the nodes has answered')
    this.description = `${network.name} at ${nodes.map(({ url }) => url).join(', ')}`
    this.workBytes = first.node.workBytes
    setMaxListeners(0, this.#stopped.signal)
    const policy = { failbackMs: options.failbackMs, standInMs: STAND_IN_MS, keepsOldWork: true }
    this.#failover = new Failover<NodeUpstream, NodeSource>(this.#upstreams, policy, clock, {
      onJob: (job, session) => {
        this.#isIdle = false
        this.#newest.put(job && { ...job, id: `${session}.${job.id}` })
      },
      onSwitched: ({ url }) => this.#events.onRecovered(`work comes from ${url} now`),
      onRefused: () => this.#decide(),
      onFault: (error) => this.#end(error),
    })
  }

  get connected(): boolean {
    return this.#failover.feed?.connected ?? false
  }

  /** Silence of the active node in milliseconds, or 0 while another node can replace it. */
  get silentMs(): number {
    const { active, feed } = this.#failover
    if (this.#upstreams.some((upstream) => upstream !== active && upstream.isUp)) return 0
    return feed?.silentMs ?? 0
  }

  validatorTime(): bigint | null {
    return this.#failover.feed?.validatorTime() ?? null
  }

  forkVote(): ForkVote | null {
    return this.#failover.feed?.forkVote() ?? null
  }

  upstreams(): readonly UpstreamStatus[] {
    return this.#upstreams.map((upstream) => upstream.status(upstream === this.#failover.active && !this.#isIdle))
  }

  /** Chains as the active node knows them. */
  chains(): readonly ChainStatus[] {
    return this.#failover.feed?.chains() ?? []
  }

  /** Changes the chains to mine, on all nodes; undefined means all. */
  setChains(chains: readonly number[] | undefined): void {
    this.#chains = chains
    for (const source of this.#sources.values()) source.setChains(chains)
  }

  /** Clients of the nodes that answer, the active one first. */
  clients(): NodeClient[] {
    const active = this.#failover.active
    const rest = this.#upstreams.filter((upstream) => upstream !== active)
    return [active, ...rest].flatMap((upstream) => (upstream?.isUp ? (upstream.reached?.client ?? []) : []))
  }

  async *jobs(signal: AbortSignal, events: SourceEvents): AsyncGenerator<Job | null, void, void> {
    if (signal.aborted) return
    this.#events = events
    this.#judge()
    this.#watch()
    yield* this.#newest.until(signal, () => this.#end())
  }

  /**
   * Submits a solution. One of an earlier run waits until its node first answers in this run, unless another node
   * already has its block.
   */
  async submit(solution: Solution): Promise<Receipt> {
    const { issuer } = solution.job
    const upstream = this.#upstreams.find(({ url }) => url === issuer)
    const { signal } = this.#stopped
    const endMs = this.#nowMs + WORK_LIFE_MS
    while (upstream?.reached === null) {
      const message = `${issuer} does not answer`
      if (signal.aborted) return { step: 'lost', reason: 'stopped', message }
      if (this.#nowMs >= endMs) return { step: 'lost', reason: 'unreachable', message, mayReturn: true }
      if (await this.#isTaken(solution)) return { step: 'acknowledged' }
      await sleep(this.#options.clock, CHECK_MS, signal)
    }
    const source = this.#sourceOf(solution)
    const others = [...this.#sources.values()].filter((other) => other !== source)
    const reopen = others.map((other) => other.blockParentOf(solution))
    const underWay: PendingSolution = { sinceMs: this.#nowMs, isTaken: false, isRefused: false, reopen }
    this.#pending.set(solution, underWay)
    this.#after(SILENT_HOLD_MS, () => this.#releaseFailed())
    const receipt = await source.submit(solution, () => {
      underWay.isRefused = true
      releaseParents(underWay)
    })
    underWay.isTaken = receipt.step === 'acknowledged'
    // The block takes a while to reach the other nodes. A node that does not get it must not avoid its parent forever.
    const end = () => {
      this.#pending.delete(solution)
      releaseParents(underWay)
    }
    if (underWay.isTaken) this.#after(PARENT_HOLD_MS, end)
    else end()
    return receipt
  }

  /** Whether a node that answers knows the block of a solution. */
  async #isTaken(solution: Solution): Promise<boolean> {
    const { clock } = this.#options
    const nodes = this.#upstreams.flatMap(({ isUp, reached }) => (isUp && reached !== null ? [reached.node] : []))
    const looks = nodes.map((node) =>
      lookUpBlock(blockOfSolution(solution), { node, calls: new NodeCalls(clock) }, [0], this.#stopped.signal),
    )
    return (await Promise.all(looks)).some(
      ({ position: place }) => place?.kind === 'on-chain' || place?.kind === 'orphaned',
    )
  }

  /** Runs `run` after the delay, unless the source has ended. */
  #after(delayMs: number, run: () => void): void {
    after(this.#options.clock, delayMs, this.#stopped.signal, run)
  }

  async *follow(solution: Solution, signal: AbortSignal): AsyncGenerator<FollowUp, void, void> {
    let isShared = this.#options.shareBlocks === false
    for await (const step of this.#sourceOf(solution).follow(solution, signal)) {
      if (step.step === 'confirmed' && !isShared) {
        isShared = true
        void this.#shareBlock(solution).catch((error) => this.#end(error))
      }
      yield step
    }
  }

  /** Ends the source, and closes the connections to all nodes. */
  async close(): Promise<void> {
    this.#end()
    await Promise.all(this.#upstreams.map(({ reached }) => reached?.close()))
  }

  #end(error?: unknown): void {
    if (this.#stopped.signal.aborted) return
    this.#stopped.abort()
    this.#newest.close(error)
    this.#failover.stop()
  }

  #sourceOf({ job }: Solution): NodeSource {
    const upstream = this.#upstreamOf(job)
    return this.#sources.get(upstream) ?? this.#newSource(upstream)
  }

  /** The node that issued a job, or any reached one if the issuer is unknown. */
  #upstreamOf({ issuer }: Job): NodeUpstream {
    const reached = this.#upstreams.filter((upstream) => upstream.reached !== null)
    return reached.find((each) => each.reached?.node.url === issuer) ?? reached[0]
  }

  /** Gives a block to the other nodes. Only its issuer has the payload, and only once it has the block. */
  async #shareBlock({ job }: Solution): Promise<void> {
    const issuer = this.#upstreamOf(job)
    const { reached } = issuer
    if (reached === null) return
    await Promise.all(this.#upstreams.map((other) => other !== issuer && other.takeBlocksOf(reached)))
  }

  #newSource(upstream: NodeUpstream): NodeSource {
    const { clock, random, confirmations } = this.#options
    const chains = this.#chains
    const { node } = upstream.reached as { readonly node: MiningNode }
    const helped = addHelpers(node, {
      clock,
      isUp: () => upstream.isUp,
      others: () =>
        this.#upstreams.flatMap((other) => (other !== upstream && other.isUp ? (other.reached?.node ?? []) : [])),
      verifyWork: (work, signal) => this.#verifyWork(upstream, work, signal),
      onBlocks: (blocks, signal) => this.#compare(upstream, blocks, signal),
      onBroken: () => void this.#check(upstream),
    })
    const source = new NodeSource({
      node: helped,
      clock,
      random,
      confirmations,
      chains,
      followSignal: this.#stopped.signal,
    })
    this.#sources.set(upstream, source)
    for (const [solution, underWay] of this.#pending) {
      const isOwn = this.#upstreamOf(solution.job) === upstream
      if (!isOwn && !this.#hasFailed(solution, underWay)) underWay.reopen.push(source.blockParentOf(solution))
    }
    return source
  }

  /**
   * Rejects work of a node whose chains do not continue its earlier ones, unless no other node can give work.
   * @throws NewcutError
   */
  async #verifyWork(upstream: NodeUpstream, work: Work, signal: AbortSignal): Promise<void> {
    if (await upstream.isContinuedBy(blocksOfWork(work.fields), signal)) return
    this.#decide()
    const isNeeded = this.#upstreams.every(({ fitness }) => fitness.fitSinceMs === null)
    if (isNeeded && upstream.isUp) return
    throw operatingError(sourceErrors.chainsDiffer, { url: upstream.url, problem: `${upstream.status(false).problem}` })
  }

  /** Compares each cut of the active node with its earlier blocks: one lookup is enough to detect another node. */
  async #compare(upstream: NodeUpstream, blocks: readonly NamedBlock[], signal: AbortSignal): Promise<void> {
    if (!(await upstream.isContinuedBy(blocks, signal))) this.#decide()
  }

  /** Checks all nodes at intervals. */
  #watch(): void {
    this.#after(CHECK_MS, () => this.#watch())
    for (const upstream of this.#upstreams) void this.#check(upstream)
  }

  /** Judges at intervals, even if no node answers: time alone changes the result. */
  #judge(): void {
    this.#after(JUDGE_MS, () => this.#judge())
    this.#failover.judge()
    this.#decide()
  }

  async #check(upstream: NodeUpstream): Promise<void> {
    try {
      await upstream.check(this.#stopped.signal)
      if (!this.#stopped.signal.aborted) this.#decide()
    } catch (error) {
      // After the end, requests fail with the reason of the signal.
      this.#end(error)
    }
  }

  get #nowMs(): number {
    return this.#options.clock.monotonicMs()
  }

  /** Judges all nodes, and fails over or back if necessary. */
  #decide(): void {
    if (this.#stopped.signal.aborted) return
    for (const upstream of this.#upstreams) {
      const news = upstream.judge(this.#upstreams.filter((other) => other !== upstream))
      if (news !== null) this.#events[news.isWell ? 'onRecovered' : 'onTrouble'](`${upstream.url} ${news.text}`)
    }
    this.#releaseFailed()
    const refusals = this.#upstreams.map(({ refusal }) => refusal)
    if (refusals.every((refusal) => refusal !== null)) {
      this.#end(refusals[0])
      return
    }
    if (this.#failover.decide() === null) this.#idle()
    else this.#deadSinceMs = null
  }

  /** Releases the parents of solutions whose node does not answer: other miners may have a block there. */
  #releaseFailed(): void {
    for (const [solution, underWay] of this.#pending) if (this.#hasFailed(solution, underWay)) releaseParents(underWay)
  }

  /**
   * Whether the solution has probably failed. It has if it was refused, if its node was already silent and did not
   * get it, or if the node has been down for too long.
   */
  #hasFailed({ job }: Solution, { sinceMs, isTaken, isRefused }: PendingSolution): boolean {
    if (isRefused) return true
    const { isUp, silentSinceMs } = this.#upstreamOf(job)
    if (isUp) return false
    const isUnheard = !isTaken && silentSinceMs !== null && silentSinceMs < sinceMs
    return isUnheard || this.#nowMs - sinceMs >= SILENT_HOLD_MS
  }

  /** Drops the current work after a while, because no node can give any. */
  #idle(): void {
    this.#deadSinceMs ??= this.#nowMs
    if (this.#isIdle || this.#nowMs - this.#deadSinceMs < DROP_WORK_MS) return
    this.#isIdle = true
    this.#newest.put(null)
  }
}

function releaseParents({ reopen }: PendingSolution): void {
  for (const each of reopen.splice(0)) each()
}
