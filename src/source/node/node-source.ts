/** Work from a node: performs what the state machine (state.ts) wants, and tells it what comes of it. */
import { setMaxListeners } from 'node:events'
import { blockHash } from '../../core/block-hash.ts'
import { encodeBase64Url } from '../../core/bytes.ts'
import type { Clock } from '../../core/clock.ts'
import { describeError, NewcutError } from '../../core/errors.ts'
import { decodeWork } from '../../core/header.ts'
import { FREE_NONCE } from '../../core/nonce.ts'
import { Mailbox } from '../mailbox.ts'
import type { FollowUp, Job, Receipt, Solution, Source, SourceEvents } from '../source.ts'
import { Depths } from './depths.ts'
import { followUp } from './follow-up.ts'
import { handIn } from './hand-in.ts'
import type { SolvedBlock } from './look.ts'
import type { MiningNode } from './mining-node.ts'
import { Outage } from './outage.ts'
import { type Effect, type Event, type IssuedWork, initialState, type Need, type State } from './state.ts'
import { step } from './step.ts'

export interface NodeSourceOptions {
  readonly node: MiningNode
  readonly clock: Clock
  /** Uniform in [0, 1), for the jitter of retries and the choice of chains. */
  readonly random: () => number
  /** Work is asked for anew at this age: nodes forget a payload after 5 minutes (PROTOCOL.md A.1). */
  readonly refreshMs?: number
  /** How deep a block has to lie before it is no longer looked for; default: 1, the head. */
  readonly confirmations?: number | undefined
}

const REFRESH_MS = 120_000
/** A request for work that is not answered within this is given up. */
const MAX_ANSWER_MS = 5_000
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 10_000
const STANDBY_PAUSE_MS = 1_000
/** Streams end and are opened again all the time: it is an outage when that takes longer. */
const STREAM_PATIENCE_MS = 10_000

type Ask = Extract<Effect, { readonly type: 'ask' }>
/** An event without its time. */
type News = Event extends infer E ? (E extends Event ? Omit<E, 'atMs'> : never) : never

export class NodeSource implements Source {
  readonly description: string
  readonly workBytes: number
  readonly #options: NodeSourceOptions
  readonly #newest = new Mailbox<Job | null>()
  /** Chain -> whether its stream is open. */
  readonly #streams = new Map<number, boolean>()
  readonly #requests = new Map<number, AbortController>()
  /** What timers run: `refresh`, or the purpose that pauses. */
  readonly #timers = new Map<string, () => void>()
  readonly #stopped = new AbortController()
  readonly #depths: Depths
  #outage: Outage
  #state: State
  #clockAheadMs: number | null = null
  /** The node refuses this miner for good. */
  #refusal: NewcutError | null = null

  constructor(options: NodeSourceOptions) {
    const { node, clock } = options
    this.#options = options
    const confirmations = options.confirmations ?? 1
    this.#depths = new Depths({ node, clock, confirmations, onFault: (error) => this.#stop(error) })
    // As many solutions and streams listen to it as there are.
    setMaxListeners(0, this.#stopped.signal)
    this.description = node.description
    this.workBytes = node.workBytes
    this.#state = initialState(node.chains)
    this.#outage = new Outage(clock, { onTrouble: () => undefined, onRecovered: () => undefined })
  }

  get connected(): boolean {
    const { current } = this.#state
    return current.kind === 'searching' && this.#streams.get(current.job.work.fields.chainId) === true
  }

  validatorTime(): bigint | null {
    if (this.#clockAheadMs === null) return null
    return BigInt(Math.floor(this.#options.clock.wallMs() + this.#clockAheadMs)) * 1000n
  }

  async *jobs(signal: AbortSignal, events: SourceEvents): AsyncGenerator<Job | null, void, void> {
    if (signal.aborted) return
    this.#outage = new Outage(this.#options.clock, events)
    const stop = () => this.#stop()
    signal.addEventListener('abort', stop, { once: true })
    this.#tell({ type: 'started' })
    try {
      yield* this.#newest
    } finally {
      signal.removeEventListener('abort', stop)
      stop()
    }
  }

  async handIn({ bytes }: Solution): Promise<Receipt> {
    const fields = decodeWork(bytes)
    this.#tell({ type: 'handedIn', fields })
    const receipt = await handIn(solvedBlock(bytes), this.#options, this.#stopped.signal)
    this.#tell({ type: receipt.step === 'acknowledged' ? 'taken' : 'reopened', fields })
    return receipt
  }

  async *follow({ bytes }: Solution, signal: AbortSignal): AsyncGenerator<FollowUp, void, void> {
    setMaxListeners(0, signal)
    const block = solvedBlock(bytes)
    const end = await followUp(block, this.#options, signal)
    this.#tell({ type: end.step === 'confirmed' ? 'confirmed' : 'reopened', fields: decodeWork(bytes) })
    yield end
    if (end.step !== 'confirmed') return
    yield* this.#depths.follow({ ...block, id: encodeBase64Url(block.hash) }, end.depth, signal)
  }

  #stop(error?: unknown): void {
    if (this.#stopped.signal.aborted) return
    this.#stopped.abort()
    this.#newest.close(error)
    for (const request of this.#requests.values()) request.abort()
    for (const cancel of this.#timers.values()) cancel()
    this.#outage.end()
    this.#streams.clear()
    this.#depths.stop()
  }

  #tell(news: News): void {
    if (this.#stopped.signal.aborted) return
    const [state, effects] = step(this.#state, { ...news, atMs: this.#options.clock.monotonicMs() } as Event)
    this.#state = state
    for (const effect of effects) this.#perform(effect)
  }

  #perform(effect: Effect): void {
    switch (effect.type) {
      case 'ask':
        // Its outcome comes as an event; what else goes wrong is a fault of ours.
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
        this.#newest.put(this.#jobOf(effect.job, effect.need))
        return
      case 'idle':
        this.#newest.put(null)
        return
      case 'follow':
        this.#follow(effect.chain)
        return
      case 'refreshLater':
        this.#after('refresh', this.#options.refreshMs ?? REFRESH_MS, () => this.#tell({ type: 'refreshDue' }))
        return
      case 'end':
        this.#stop(this.#refusal)
        return
    }
  }

  #jobOf({ id, work }: IssuedWork, { reason, noticedAtMs }: Need): Job {
    const { url } = this.#options.node
    const { target } = work.fields
    const fixed = { issuer: url, fixedNonce: FREE_NONCE, manySolutions: false }
    return { id: String(id), work, target, reason, noticedAtMs, ...fixed }
  }

  /** Resolves when its outcome has been told. */
  async #ask(ask: Ask): Promise<void> {
    const { node, clock } = this.#options
    const { request } = ask
    const controller = new AbortController()
    this.#requests.set(request, controller)
    const cancelTimeout = clock.after(MAX_ANSWER_MS, () => controller.abort(new AnswerTimeout()))
    try {
      const { work, clockAheadMs } = await node.work(this.#chainFor(ask), controller.signal)
      if (!this.#requests.has(request)) return
      this.#clockAheadMs = clockAheadMs
      this.#outage.works('current')
      this.#outage.works('standby')
      this.#tell({ type: 'answered', request, work })
    } catch (error) {
      // Cancelled: nobody waits for it.
      if (!this.#requests.has(request) || this.#stopped.signal.aborted) return
      await this.#failed(ask, error)
    } finally {
      cancelTimeout()
      this.#requests.delete(request)
    }
  }

  async #failed({ request, purpose }: Ask, error: unknown): Promise<void> {
    if (!(error instanceof NewcutError)) throw error
    this.#refusal = this.#state.hasHadWork ? null : await this.#options.node.finalRefusal(error, this.#stopped.signal)
    if (!this.#requests.has(request)) return
    this.#tell({ type: 'failed', request, isFinal: this.#refusal !== null })
    // Standby work that could not be renewed stands by all the same.
    if (purpose === 'standby' && this.#state.standby.kind === 'ready') return
    const what = purpose === 'current' ? 'no work' : 'no standby work'
    this.#outage.failed(purpose, `${what}: ${describeError(error)}; trying on`)
  }

  #chainFor(ask: Ask): number | null {
    if ('chain' in ask) return ask.chain
    const { node, random } = this.#options
    const choice = node.chains.filter((chain) => !ask.notAmong.includes(chain))
    return choice[Math.floor(random() * choice.length)] ?? null
  }

  #pause({ purpose, attempts }: Extract<Effect, { readonly type: 'pause' }>): void {
    const longestMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1))
    const pauseMs = purpose === 'current' ? this.#options.random() * longestMs : STANDBY_PAUSE_MS
    this.#after(purpose, pauseMs, () => this.#tell({ type: 'paused', purpose }))
  }

  #after(name: string, delayMs: number, run: () => void): void {
    this.#cancelTimer(name)
    this.#timers.set(name, this.#options.clock.after(delayMs, run))
  }

  #cancelTimer(name: string): void {
    this.#timers.get(name)?.()
    this.#timers.delete(name)
  }

  /** Opens the update stream of a chain, once. */
  #follow(chain: number): void {
    if (this.#streams.has(chain)) return
    this.#streams.set(chain, false)
    const name = `stream of chain ${chain}`
    this.#options.node.news(chain, {
      signal: this.#stopped.signal,
      onNewCut: () => {
        this.#tell({ type: 'newCut', chain })
        this.#depths.news(chain)
      },
      onOpen: () => {
        this.#streams.set(chain, true)
        this.#outage.works(name)
        this.#tell({ type: 'streamOpened', chain })
        this.#depths.news(chain)
      },
      onBroken: (error) => {
        this.#streams.set(chain, false)
        this.#outage.failed(name, `no news: update ${name}: ${describeError(error)}`, STREAM_PATIENCE_MS)
      },
    })
  }
}

/** The node does not answer a request for work. */
class AnswerTimeout extends NewcutError {
  constructor() {
    super('NODE_UNREACHABLE', `no answer to a request for work within ${MAX_ANSWER_MS / 1000} s`)
  }
}

function solvedBlock(bytes: Uint8Array): SolvedBlock {
  const { chainId: chain, height } = decodeWork(bytes)
  return { bytes, chain, height: Number(height), hash: blockHash(bytes) }
}
