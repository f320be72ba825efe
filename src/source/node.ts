/**
 * Work from a node over HTTP. One piece of work is current; another, of another chain, stands by, so that a New Cut or a
 * solution switches engines at once and the way to the node and back costs no hashing:
 *
 *     New Cut on the current chain, or a solution of its work -> the standby becomes current, a new one is fetched
 *     New Cut on the standby's chain                          -> a new standby is fetched
 *     New Cut on any other chain                              -> nothing (PROTOCOL.md A.6)
 */
import { equalBytes } from '../core/bytes.ts'
import { type Clock, sleep } from '../core/clock.ts'
import { describeError, NewcutError } from '../core/errors.ts'
import { decodeWork, headerLayout, sameParent, type WorkFields } from '../core/header.ts'
import type { MinerAccount } from '../core/payload.ts'
import type { Work } from '../core/work.ts'
import type { NodeClient } from '../node/client.ts'
import { NodeRefusal } from '../node/errors.ts'
import type { EventStream } from '../node/event-stream.ts'
import { Mailbox } from './mailbox.ts'
import type { Source, SourceEvents, SourceWork, Verdict, WorkReason } from './source.ts'
import { confirm, post } from './submission.ts'

export interface NodeSourceOptions {
  readonly client: NodeClient
  readonly account: MinerAccount
  readonly clock: Clock
  /** Uniform in [0, 1), for the jitter of retries and the choice of standby chains. */
  readonly random: () => number
  /** Longest silence of an update stream; 0: none. */
  readonly stallMs: number
  /** Work is asked for anew at this age: nodes forget a payload after 5 minutes (PROTOCOL.md A.1). */
  readonly refreshMs?: number
}

const REFRESH_MS = 120_000
const FIRST_BACKOFF_MS = 200
const MAX_BACKOFF_MS = 10_000

interface Request {
  readonly reason: WorkReason
  readonly noticedAtMs: number
  /** The work that the request is to replace. */
  readonly about: Current | null
  /** Ask for this chain, to see whether its work still stands. */
  readonly chain: number | null
}

interface Current {
  readonly work: Work
  /** Known to be of no use: its chain moved on. */
  dead: boolean
}

export class NodeSource implements Source {
  readonly description: string
  readonly workBytes: number
  readonly #options: NodeSourceOptions
  readonly #chains: readonly number[]
  readonly #streams = new Map<number, { readonly stream: EventStream; open: boolean; complained: boolean }>()
  readonly #newest = new Mailbox<SourceWork | null>()
  /** What was solved and is on its way to the node. */
  readonly #submitting = new Set<WorkFields>()
  /** What the node took since the request for work under way was sent: the answer may be older than that. */
  readonly #takenMeanwhile: WorkFields[] = []
  #events: SourceEvents = { onTrouble: () => undefined }
  #signal: AbortSignal = new AbortController().signal
  #running = false
  #current: Current | null = null
  #standby: Work | null = null
  /** Ask for standby work, of this chain if it is not null; undefined: not wanted. */
  #standbyChain: number | null | undefined = undefined
  #wanted: Request | null = null
  #fetching = false
  #cancelRefresh: () => void = () => undefined
  #clockAheadMs: number | null = null

  constructor(options: NodeSourceOptions) {
    this.#options = options
    const { info, http } = options.client
    this.description = `${info.nodeVersion} (${info.nodeNumberOfChains} chains) at ${http.baseUrl}`
    this.workBytes = headerLayout(newestDegree(options.client)).workBytes
    this.#chains = info.nodeChains.map(Number)
  }

  get connected(): boolean {
    const chain = this.#current?.work.fields.chainId
    return chain !== undefined && this.#streams.get(chain)?.open === true
  }

  validatorTime(): bigint | null {
    if (this.#clockAheadMs === null) return null
    return BigInt(Math.floor(this.#options.clock.wallMs() + this.#clockAheadMs)) * 1000n
  }

  async *works(signal: AbortSignal, events: SourceEvents): AsyncGenerator<SourceWork | null, void, void> {
    if (signal.aborted) return
    this.#signal = signal
    this.#events = events
    this.#running = true
    const stop = () => {
      this.#running = false
      this.#newest.close()
    }
    signal.addEventListener('abort', stop, { once: true })
    this.#want('start')
    try {
      yield* this.#newest
    } finally {
      stop()
      signal.removeEventListener('abort', stop)
      this.#cancelRefresh()
      for (const { stream } of this.#streams.values()) stream.close()
      this.#streams.clear()
    }
  }

  async submit(solution: Uint8Array): Promise<Verdict> {
    const fields = decodeWork(solution)
    this.#submitting.add(fields)
    try {
      if (this.#isCurrent(fields)) this.#promoteStandby('solved')
      const refusal = await post(solution, this.#options)
      this.#submitting.delete(fields)
      if (refusal === null) this.#takenMeanwhile.push(fields)
      if (this.#current === null || this.#current.dead || this.#isCurrent(fields)) {
        if (this.#current !== null) this.#current.dead = true
        this.#want('solved')
      }
      const place = { chain: fields.chainId, height: Number(fields.height) }
      return refusal ?? (await confirm(solution, place, this.#options, this.#signal, this.#events.onTrouble))
    } finally {
      this.#submitting.delete(fields)
    }
  }

  #isCurrent(fields: WorkFields): boolean {
    return this.#current !== null && sameParent(this.#current.work.fields, fields)
  }

  /** Asks for work, now or after the request under way: that one may have been answered before the cause arose. */
  #want(reason: WorkReason, chain: number | null = null): void {
    // A look whether work still stands is no reason to forget that it does not.
    if (!isLook(reason) || this.#wanted === null) {
      this.#wanted = { reason, chain, noticedAtMs: this.#options.clock.monotonicMs(), about: this.#current }
    }
    this.#fetch()
  }

  /** Sees to it that what is wanted is fetched, one request at a time. */
  #fetch(): void {
    if (this.#fetching || !this.#running) return
    this.#fetching = true
    this.#fetchUntilSatisfied().catch((error) => this.#newest.close(error))
  }

  async #fetchUntilSatisfied(): Promise<void> {
    const { clock, random } = this.#options
    let failures = 0
    try {
      while (this.#running) {
        const request = this.#wanted
        this.#wanted = null
        if (request === null) {
          if (!(await this.#fetchStandby())) return
          continue
        }
        // The answer to the request before has replaced that work already.
        if (request.about !== this.#current && this.#current?.dead === false) continue
        const failure = await this.#fetchCurrent(request)
        failures = failure === null ? 0 : failures + 1
        if (failure === null) continue
        const delayMs = random() * Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 1))
        this.#events.onTrouble(`no work: ${failure}`, delayMs)
        await sleep(clock, delayMs, this.#signal)
      }
    } finally {
      this.#fetching = false
    }
  }

  /** Null, or what failed; it is wanted again then. Throws what retrying cannot cure. */
  async #fetchCurrent(request: Request): Promise<string | null> {
    try {
      const work = await this.#ask(request.chain)
      if (this.#running) this.#deliver(work, request)
      return null
    } catch (error) {
      if (!this.#running) return null
      if (isFinal(error)) throw explain(error, this.#options.account)
      this.#wanted ??= request
      // Without a way to replace it, work that is known to be lost is not searched any further.
      if (!isLook(request.reason) || this.#current === null) {
        this.#current = null
        this.#newest.put(null)
      }
      return describeError(error)
    }
  }

  /** Fetches standby work if it is wanted. False when there is nothing to do, or nothing to be had for now. */
  async #fetchStandby(): Promise<boolean> {
    const wish = this.#standbyChain
    const current = this.#current?.work.fields.chainId
    const others = this.#chains.filter((chain) => chain !== current)
    if (wish === undefined || current === undefined || others.length === 0) return false
    this.#standbyChain = undefined
    try {
      const suggested = wish ?? others[Math.floor(this.#options.random() * others.length)]
      const work = await this.#ask(suggested)
      // The node may give another chain than the suggested one, or the one that is current by now.
      if (work.fields.chainId !== this.#current?.work.fields.chainId && !this.#isSpent(work.fields)) {
        this.#standby = work
        this.#follow(work.fields.chainId)
      }
      return true
    } catch (error) {
      // It is wanted again at the latest with the next work.
      if (this.#running) this.#events.onTrouble(`no standby work: ${describeError(error)}`, 0)
      return false
    }
  }

  async #ask(chain: number | null): Promise<Work> {
    const { client, account } = this.#options
    this.#takenMeanwhile.length = 0
    const { work, clockAheadMs } = await client.work(account, chain ?? undefined)
    this.#clockAheadMs = clockAheadMs
    return work
  }

  #isSubmitting(fields: WorkFields): boolean {
    return [...this.#submitting].some((solved) => sameParent(solved, fields))
  }

  /** Whether this work, just answered, was solved by us before or while it was asked for. */
  #isSpent(fields: WorkFields): boolean {
    return this.#isSubmitting(fields) || this.#takenMeanwhile.some((solved) => sameParent(solved, fields))
  }

  #deliver(work: Work, request: Request): void {
    const { reason, noticedAtMs } = request
    this.#refreshLater()
    const previous = this.#current
    if (previous !== null && !previous.dead && sameWork(previous.work, work)) return
    // Answered before the node heard of our solution of it: what comes after it is asked for when the node did.
    if (this.#isSpent(work.fields)) {
      if (previous !== null && !isLook(reason)) previous.dead = true
      if (!this.#isSubmitting(work.fields)) this.#wanted ??= request
      return
    }
    this.#makeCurrent({ work, reason, noticedAtMs })
  }

  #makeCurrent(item: SourceWork): void {
    const chain = item.work.fields.chainId
    this.#current = { work: item.work, dead: false }
    if (this.#standby === null || this.#standby.fields.chainId === chain) this.#wantStandby()
    this.#follow(chain)
    this.#newest.put(item)
  }

  /** Puts the standby in the place of the current work. False when there is none. */
  #promoteStandby(reason: WorkReason): boolean {
    const work = this.#standby
    if (work === null || this.#isSubmitting(work.fields)) return false
    this.#standby = null
    this.#makeCurrent({ work, reason, noticedAtMs: this.#options.clock.monotonicMs() })
    return true
  }

  #wantStandby(chain: number | null = null): void {
    this.#standby = null
    this.#standbyChain = chain
    this.#fetch()
  }

  #refreshLater(): void {
    const { clock, refreshMs = REFRESH_MS } = this.#options
    this.#cancelRefresh()
    this.#cancelRefresh = clock.after(refreshMs, () => {
      if (this.#standby !== null) this.#wantStandby(this.#standby.fields.chainId)
      this.#want('refreshed', this.#current?.work.fields.chainId ?? null)
    })
  }

  /** Opens the update stream of a chain, once. */
  #follow(chain: number): void {
    if (this.#streams.has(chain)) return
    const { client, stallMs, clock } = this.#options
    const stream = client.updates(chain, {
      stallMs,
      clock,
      signal: this.#signal,
      onNewCut: () => this.#onNewCut(chain),
      onOpen: () => {
        state.open = true
        state.complained = false
        // What happened between the request for work and now was missed: see whether the work still stands.
        if (this.#current?.work.fields.chainId === chain) this.#want('reconnected', chain)
        if (this.#standby?.fields.chainId === chain) this.#wantStandby(chain)
      },
      onError: (error, retryInMs) => {
        state.open = false
        // Once an outage: there is a stream for every chain, and each tries again for as long as it takes.
        if (!state.complained) {
          this.#events.onTrouble(`update stream of chain ${chain}: ${describeError(error)}`, retryInMs)
        }
        state.complained = true
      },
    })
    const state = { stream, open: false, complained: false }
    this.#streams.set(chain, state)
  }

  #onNewCut(chain: number): void {
    if (this.#standby?.fields.chainId === chain) this.#wantStandby()
    if (this.#current?.work.fields.chainId !== chain) return
    const reason = this.#isSubmitting(this.#current.work.fields) ? 'solved' : 'newCut'
    if (!this.#promoteStandby(reason)) this.#want(reason)
  }
}

/** Asked only to see whether the current work still stands. */
function isLook(reason: WorkReason): boolean {
  return reason === 'reconnected' || reason === 'refreshed'
}

/** Work that a node gave out once more, but for its creation time. */
function sameWork(a: Work, b: Work): boolean {
  return sameParent(a.fields, b.fields) && equalBytes(a.fields.payloadHash, b.fields.payloadHash)
}

/** Adjacent chains per chain in the newest graph of the node. */
function newestDegree({ info }: NodeClient): number {
  const newest = info.nodeGraphHistory.reduce((a, b) => (b[0] > a[0] ? b : a))
  return newest[1][0]?.[1].length ?? 0
}

/** Failures that no retry will cure. */
function isFinal(error: unknown): boolean {
  if (error instanceof NodeRefusal) return error.status < 500 && error.status !== 408 && error.status !== 429
  return !(error instanceof NewcutError)
}

function explain(error: unknown, { account }: MinerAccount): unknown {
  if (!(error instanceof NodeRefusal)) return error
  const hints: Record<number, string> = {
    403: `the node mines for configured accounts only, and compares account (${account}), predicate and keys as a whole`,
    404: 'mining is not enabled on that node, or it is not the service API',
  }
  return new NewcutError('NODE_REFUSED', error.message, { hint: hints[error.status], cause: error })
}
