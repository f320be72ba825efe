/** Work from a node: performs the effects of the state machine (state.ts), and feeds it with their results. */
import { setMaxListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { MinersPoolFull } from '#client/node/errors.ts'
import { backoffMs } from '#ground/base/backoff.ts'
import { encodeBase64Url } from '#ground/base/bytes.ts'
import type { Clock } from '#ground/base/clock.ts'
import { describeError, NewcutError } from '#ground/base/errors.ts'
import { type FollowUp, mayContinue, type Receipt } from '#ground/chain/solution.ts'
import { Mailbox } from '../mailbox.ts'
import type { ChainChoice, ChainStatus, ForkVote, Job, Solution, Source, SourceEvents } from '../source.ts'
import { blockOfSolution } from './block-lookup.ts'
import { NodeCalls } from './calls.ts'
import { ChainDisplay } from './chains.ts'
import { chooseChain } from './choice.ts'
import { CutFeed } from './cut-feed.ts'
import { type ChainStep, DepthWatch, isChainStep, UNSEEN_DEPTH } from './depths.ts'
import { followUp } from './follow-up.ts'
import { HeadWatch } from './head-watch.ts'
import type { MiningNode } from './mining-node.ts'
import { NewsStreams } from './news-streams.ts'
import { Outage } from './outage.ts'
import { overdueMs } from './overdue.ts'
import { type Effect, type Event, initialState, jobOf, type State } from './state.ts'
import { step } from './step.ts'
import { submitBlock } from './submit.ts'

interface NodeSourceOptions {
  readonly node: MiningNode
  readonly clock: Clock
  /** Uniform in [0, 1), for the jitter of retries, and the choice of chains while their chances are unknown. */
  readonly random: () => number
  /** Chains to mine at first. Default: all chains of the node. */
  readonly chains?: readonly number[] | undefined
  /** Age at which work is requested again: nodes forget a payload after 5 minutes (PROTOCOL.md A.1). */
  readonly refreshMs?: number
  /** Required depth of a settled block. Default: 1, the head. */
  readonly confirmations?: number | undefined
  /** Ends submitting and following, which then outlive jobs(). By default they end with jobs(). */
  readonly followSignal?: AbortSignal
}

/** Default of `refreshMs`: less than half of the 5 minutes, so that one failed attempt costs nothing. */
const REFRESH_MS = 120_000
/** The end of the year 9999; a later creation time is invalid. */
const MAX_TIME_MS = 253_402_300_799_999
/** First and longest pause between requests for work of a node that fails. Short, so that work resumes soon. */
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 1_000
const STANDBY_PAUSE_MS = 1_000

type RequestEffect = Extract<Effect, { readonly type: 'ask' }>
/** An event without its time. */
type UntimedEvent = Event extends infer E ? (E extends Event ? Omit<E, 'atMs'> : never) : never

export class NodeSource implements Source, ChainChoice {
  readonly description: string
  readonly waitReason = null
  readonly workBytes: number
  readonly #options: NodeSourceOptions
  readonly #newest = new Mailbox<Job | null>()
  readonly #streams: NewsStreams
  /** Requests for work without an answer. */
  readonly #requests = new Map<number, AbortController>()
  /** Timers by name: `refresh`, `suspicion`, `block`, or the purpose that pauses. */
  readonly #timers = new Map<string, () => void>()
  readonly #stopped = new AbortController()
  /** Ends submitting and following. */
  readonly #followSignal: AbortSignal
  readonly #depths: DepthWatch
  /** Null if there is only one chain, or no way to compare chains. */
  #watch: HeadWatch | null
  /** Chains that the user chose, or undefined for all. */
  #chosenChains: readonly number[] | undefined
  readonly #chains: ChainDisplay
  readonly #calls: NodeCalls
  readonly #cuts: CutFeed
  #outage: Outage
  #state: State
  /** Creation time of the newest work minus the monotonic time of its arrival, in milliseconds. */
  #validatorAheadMs: number | null = null
  /** Whether jobs() runs. Solutions are submitted and followed even if it does not. */
  #isRunning = false
  /** Set when the node refuses this miner permanently. */
  #refusal: NewcutError | null = null

  constructor(options: NodeSourceOptions) {
    const { node, clock } = options
    this.#options = options
    const confirmations = options.confirmations ?? 1
    this.#calls = new NodeCalls(clock)
    this.#cuts = this.#makeFeed(node)
    const onFault = (error: unknown) => this.#stop(error)
    this.#depths = new DepthWatch({ node, calls: this.#calls, confirmations, onFault })
    this.#streams = new NewsStreams({
      node,
      signal: this.#stopped.signal,
      outage: () => this.#outage,
      onNewCut: (chain) => {
        this.#dispatch({ type: 'newCut', chain })
        this.#watch?.lookSoon()
        this.#depths.lookSoon(chain)
      },
      onOpen: (chain) => {
        this.#dispatch({ type: 'streamOpened', chain })
        this.#depths.lookSoon(chain)
      },
      onBroken: () => this.#cuts.suspect(),
    })
    this.#followSignal = options.followSignal ?? this.#stopped.signal
    // Each solution and each stream adds a listener.
    setMaxListeners(0, this.#stopped.signal, this.#followSignal)
    this.description = node.description
    this.workBytes = node.workBytes
    this.#chosenChains = options.chains
    const chains = options.chains ?? node.chains
    this.#state = initialState(chains)
    this.#chains = new ChainDisplay(node.graphHistory ?? [], chains)
    this.#watch = this.#makeWatch(chains)
    this.#outage = new Outage(clock, { onTrouble: () => undefined, onRecovered: () => undefined })
  }

  get connected(): boolean {
    const { current } = this.#state
    return current.kind === 'searching' && this.#streams.isOpen(current.job.work.fields.chainId)
  }

  /** Time for which the node has owed requested work, or its requests have failed, in milliseconds; 0 if neither. */
  get failingMs(): number {
    return overdueMs(this.#state, this.#options.clock.monotonicMs())
  }

  /** Time for which the node has not answered, or has owed work, in milliseconds; 0 if neither. */
  get silentMs(): number {
    return Math.max(this.#cuts.silentMs, this.failingMs)
  }

  upstreams = (): readonly [] => []

  chains(): readonly ChainStatus[] {
    return this.#chains.statuses()
  }

  validatorTime(): bigint | null {
    if (this.#validatorAheadMs === null) return null
    const ms = this.#options.clock.monotonicMs() + this.#validatorAheadMs
    return ms > MAX_TIME_MS ? null : BigInt(Math.floor(ms)) * 1000n
  }

  forkVote(): ForkVote | null {
    return this.#options.node.forkVote()
  }

  async *jobs(signal: AbortSignal, events: SourceEvents): AsyncGenerator<Job | null, void, void> {
    if (signal.aborted) return
    const { node, clock } = this.#options
    this.#outage = new Outage(clock, events)
    this.#isRunning = true
    this.#dispatch({ type: 'started' })
    this.#cuts.start()
    // Streams may miss a restart of the node: their own connections may have ended silently.
    node.onLost?.(() => this.#dispatch({ type: 'restartSuspected' }), this.#stopped.signal)
    this.#watch?.lookSoon()
    // Chosen chains may all be blocked at first; their news ends the wait.
    for (const chain of this.#chosenChains ?? []) this.#streams.follow(chain)
    yield* this.#newest.until(signal, () => this.#stop())
  }

  /**
   * Submits a solution. Never throws.
   * @param onRefusal called at the first refusal, after which a block is unlikely
   */
  async submit(solution: Solution, onRefusal?: () => void): Promise<Receipt> {
    const { job } = solution
    const { fields } = job.work
    let wasRefused = false
    const onRefused = () => {
      wasRefused = true
      this.#dispatch({ type: 'refused', fields })
      onRefusal?.()
    }
    const isForeign = job.issuer !== this.#options.node.url
    const options = { ...this.#options, calls: this.#calls, onRefused, isForeign }
    const answer = submitBlock(blockOfSolution(solution), options, this.#followSignal)
    // The HTTP client writes in the next turn of the event loop, and the event below requests other work.
    await setImmediate()
    this.#dispatch({ type: 'submitted', fields })
    const receipt = await answer
    if (wasRefused && receipt.step === 'acknowledged') this.#dispatch({ type: 'submitted', fields })
    this.#dispatch({ type: receipt.step === 'acknowledged' ? 'acknowledged' : 'reopened', fields })
    return receipt
  }

  /** Avoids the parent of another node's solution, until the returned function is called or the chain advances. */
  blockParentOf({ job }: Solution): () => void {
    const { fields } = job.work
    this.#dispatch({ type: 'submitted', fields })
    return () => this.#dispatch({ type: 'reopened', fields })
  }

  async *follow(solution: Solution, signal: AbortSignal): AsyncGenerator<FollowUp, void, void> {
    setMaxListeners(0, signal)
    const { fields } = solution.job.work
    const block = blockOfSolution(solution)
    const followDepths = (last: ChainStep) => {
      return this.#depths.follow({ ...block, id: encodeBase64Url(block.hash) }, last, signal)
    }
    if (solution.wasConfirmed) {
      yield* followDepths({ step: 'confirmed', depth: UNSEEN_DEPTH })
      return
    }
    const { confirmations = 1 } = this.#options
    for await (const news of followUp(block, { ...this.#options, calls: this.#calls, confirmations }, signal)) {
      this.#dispatch({ type: news.step === 'confirmed' ? 'confirmed' : 'reopened', fields })
      yield news
      if (isChainStep(news) && mayContinue(news, confirmations)) yield* followDepths(news)
    }
  }

  #stop(error?: unknown): void {
    if (this.#stopped.signal.aborted) return
    this.#stopped.abort()
    this.#newest.close(error)
    for (const controller of this.#requests.values()) controller.abort()
    for (const cancel of this.#timers.values()) cancel()
    this.#outage.end()
    this.#cuts.stop()
    this.#streams.clear()
    // Otherwise each solution is followed until its own signal aborts.
    if (this.#followSignal === this.#stopped.signal) this.#depths.stop()
    this.#watch?.stop()
  }

  /** Changes the chains to mine; undefined means all. Solutions of other chains are still submitted. */
  setChains(wanted: readonly number[] | undefined): void {
    const chains = wanted ?? this.#options.node.chains
    this.#chosenChains = wanted
    this.#chains.setChains(chains)
    this.#watch?.stop()
    this.#watch = this.#makeWatch(chains)
    if (this.#stopped.signal.aborted) return
    if (!this.#isRunning) {
      this.#state = { ...this.#state, chains }
      return
    }
    this.#dispatch({ type: 'chosen', chains })
    this.#watch?.lookSoon()
    for (const chain of wanted ?? []) this.#streams.follow(chain)
  }

  #makeWatch(chains: readonly number[]): HeadWatch | null {
    const { node, clock } = this.#options
    const view = node.view?.bind(node)
    if (view === undefined || chains.length < 2) return null
    return new HeadWatch({
      feed: this.#cuts,
      view,
      chains,
      clock,
      onView: (seen) => this.#chains.updateHeads(seen),
      onRewards: (chances) => this.#dispatch({ type: 'viewed', chances }),
      onFault: (error) => this.#stop(error),
    })
  }

  #dispatch(news: UntimedEvent): void {
    if (this.#stopped.signal.aborted) return
    // Nobody takes jobs yet, so no work is needed. But solved work must not be searched later.
    if (!this.#isRunning && news.type !== 'submitted') return
    const atMs = this.#options.clock.monotonicMs()
    const [state, effects] = step(this.#state, { ...news, atMs } as Event)
    this.#state = state
    for (const effect of effects) this.#perform(effect)
  }

  #perform(effect: Effect): void {
    switch (effect.type) {
      case 'ask':
        // Its outcome arrives as an event; any other error is a bug.
        void this.#ask(effect).catch((error) => this.#stop(error))
        return
      case 'cancel':
        this.#requests.get(effect.request)?.abort()
        this.#requests.delete(effect.request)
        return
      case 'pause':
        this.#pause(effect)
        return
      case 'unpause':
        this.#cancelTimer('current')
        return
      case 'deliver':
        this.#newest.put(jobOf(effect, this.#options.node.url))
        return
      case 'idle':
        this.#newest.put(null)
        return
      case 'follow':
        this.#streams.follow(effect.chain)
        return
      case 'refreshLater':
        this.#after('refresh', this.#options.refreshMs ?? REFRESH_MS, () => this.#dispatch({ type: 'refreshDue' }))
        return
      case 'suspicionLater':
        this.#after('suspicion', effect.delayMs, () => this.#dispatch({ type: 'suspicionDue' }))
        return
      case 'blockOverdueLater':
        this.#after('block', effect.delayMs, () => this.#dispatch({ type: 'blockOverdue' }))
        return
      case 'end':
        this.#stop(this.#refusal)
        return
    }
  }

  #makeFeed(node: MiningNode): CutFeed {
    const feed = new CutFeed({
      node,
      calls: this.#calls,
      onBack: (wasAway) => {
        this.#calls.reportBack(wasAway)
        this.#dispatch({ type: 'restartSuspected' })
      },
      onFault: (error) => this.#stop(error),
      isHurried: () => !this.connected,
    })
    feed.listen((cut) => {
      if (cut === null) return
      this.#chains.updateHeights(cut.heads)
      this.#dispatch({ type: 'cutSeen', cut: cut.heads })
    })
    return feed
  }

  /** Resolves when its outcome has been reported. */
  async #ask(ask: RequestEffect): Promise<void> {
    const { node, clock } = this.#options
    const { request } = ask
    const controller = new AbortController()
    this.#requests.set(request, controller)
    try {
      const chain = this.#chainFor(ask)
      const work = await this.#calls.ask('work', (each) => node.work(chain, each), controller.signal)
      if (this.#requests.has(request)) {
        this.#validatorAheadMs = Number(work.fields.creationTime) / 1000 - clock.monotonicMs()
        this.#outage.reportSuccess('current')
        this.#outage.reportSuccess('standby')
      }
      // The state machine ignores answers that it does not want.
      this.#dispatch({ type: 'answered', request, work })
    } catch (error) {
      // It was cancelled.
      if (!this.#requests.has(request) || this.#stopped.signal.aborted) return
      await this.#handleFailure(ask, error)
    } finally {
      this.#requests.delete(request)
    }
  }

  async #handleFailure({ request, purpose }: RequestEffect, error: unknown): Promise<void> {
    if (!(error instanceof NewcutError)) throw error
    this.#refusal = this.#state.hasHadWork
      ? null
      : await this.#options.node.findFinalRefusal(error, this.#stopped.signal)
    if (!this.#requests.has(request)) return
    this.#dispatch({ type: 'failed', request, isFinal: this.#refusal !== null })
    // Standby work that could not be renewed is still usable.
    if (purpose === 'standby' && this.#state.standby.kind === 'ready') return
    const what = purpose === 'current' ? 'no work' : 'no standby work'
    const advice = error instanceof MinersPoolFull ? `; ${error.hint}` : ''
    this.#outage.reportFailure(purpose, `${what}: ${describeError(error)}${advice}; trying on`)
  }

  #chainFor(ask: RequestEffect): number | null {
    if ('chain' in ask) return ask.chain
    const { chains, rewards: chances } = this.#state
    const { random } = this.#options
    const others = chains.filter((chain) => !ask.notAmong.includes(chain))
    const choice = chooseChain(others, chances, random)
    // No other chain is left. Without a choice by the user, any chain of the node is fine.
    return choice ?? (this.#chosenChains === undefined ? null : chooseChain(chains, chances, random))
  }

  #pause({ purpose, attempts }: Extract<Effect, { readonly type: 'pause' }>): void {
    const backoff = { firstMs: FIRST_PAUSE_MS, maxMs: MAX_PAUSE_MS }
    const isCurrent = purpose === 'current'
    const pauseMs = isCurrent ? backoffMs(backoff, attempts - 1, this.#options.random) : STANDBY_PAUSE_MS
    this.#after(purpose, pauseMs, () => this.#dispatch({ type: 'paused', purpose }))
  }

  #after(name: string, delayMs: number, run: () => void): void {
    this.#cancelTimer(name)
    this.#timers.set(name, this.#options.clock.after(delayMs, run))
  }

  #cancelTimer(name: string): void {
    this.#timers.get(name)?.()
    this.#timers.delete(name)
  }
}
