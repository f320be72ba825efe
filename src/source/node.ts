/** Work from a node over HTTP, with one update stream for each chain that was worked on. */

import { blockHash } from '../core/block-hash.ts'
import { equalBytes } from '../core/bytes.ts'
import { type Clock, sleep } from '../core/clock.ts'
import { describeError, NewcutError } from '../core/errors.ts'
import { decodeWork, headerLayout, sameParent } from '../core/header.ts'
import type { MinerAccount } from '../core/payload.ts'
import type { Work } from '../core/work.ts'
import { type NodeClient, NodeRefusal } from '../node/client.ts'
import type { EventStream } from '../node/event-stream.ts'
import { Mailbox } from './mailbox.ts'
import type { RejectReason, Source, SourceEvents, SourceWork, Verdict, WorkReason } from './source.ts'

export interface NodeSourceOptions {
  readonly client: NodeClient
  readonly account: MinerAccount
  readonly clock: Clock
  /** Uniform in [0, 1), for the jitter of retries. */
  readonly random: () => number
  /** Longest silence of an update stream; 0: none. */
  readonly stallMs: number
  /** Work is asked for anew at this age: nodes forget a payload after 5 minutes (PROTOCOL.md A.1). */
  readonly refreshMs?: number
}

const REFRESH_MS = 120_000
const FIRST_BACKOFF_MS = 200
const MAX_BACKOFF_MS = 10_000
const SUBMIT_ATTEMPTS = 4
/** A live node adds a solved block to its chain asynchronously: waits between looks for it. */
const CONFIRM_DELAYS_MS = [0, 50, 100, 200, 400, 800, 1600]

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
  readonly #streams = new Map<number, { readonly stream: EventStream; open: boolean }>()
  readonly #newest = new Mailbox<SourceWork | null>()
  readonly #submitting = new Set<Work['fields']>()
  #events: SourceEvents = { onTrouble: () => undefined }
  #signal: AbortSignal = AbortSignal.abort()
  #current: Current | null = null
  #wanted: Request | null = null
  #fetching = false
  #cancelRefresh: () => void = () => undefined
  #clockAheadMs: number | null = null

  constructor(options: NodeSourceOptions) {
    this.#options = options
    const { info, http } = options.client
    this.description = `${info.nodeVersion} (${info.nodeNumberOfChains} chains) at ${http.baseUrl}`
    this.workBytes = headerLayout(newestDegree(options.client)).workBytes
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
    this.#signal = signal
    this.#events = events
    const stop = () => this.#newest.close()
    signal.addEventListener('abort', stop, { once: true })
    this.#want('start')
    try {
      yield* this.#newest
    } finally {
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
      const refusal = await this.#post(solution)
      this.#submitting.delete(fields)
      const current = this.#current
      if (current !== null && (current.dead || sameParent(current.work.fields, fields))) {
        current.dead = true
        this.#want('solved')
      }
      return refusal ?? (await this.#confirm(solution, fields.chainId, Number(fields.height)))
    } finally {
      this.#submitting.delete(fields)
    }
  }

  /** Asks for work, now or after the request under way: that one may have been answered before the cause arose. */
  #want(reason: WorkReason, chain: number | null = null): void {
    // A look whether work still stands is no reason to forget that it does not.
    if (!isLook(reason) || this.#wanted === null) {
      this.#wanted = { reason, chain, noticedAtMs: this.#options.clock.monotonicMs(), about: this.#current }
    }
    if (this.#fetching || this.#signal.aborted) return
    this.#fetching = true
    this.#fetchUntilSatisfied().catch((error) => this.#newest.close(error))
  }

  async #fetchUntilSatisfied(): Promise<void> {
    const { clock, random } = this.#options
    let failures = 0
    try {
      while (this.#wanted !== null && !this.#signal.aborted) {
        const request = this.#wanted
        this.#wanted = null
        // The answer to the request before has replaced that work already.
        if (request.about !== this.#current && this.#current?.dead === false) continue
        const failure = await this.#fetch(request)
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
  async #fetch(request: Request): Promise<string | null> {
    const { client, account } = this.#options
    try {
      const { work, clockAheadMs } = await client.work(account, request.chain ?? undefined)
      this.#clockAheadMs = clockAheadMs
      if (!this.#signal.aborted) this.#deliver(work, request)
      return null
    } catch (error) {
      if (this.#signal.aborted) return null
      if (isFinal(error)) throw explain(error, account)
      this.#wanted ??= request
      // Without a way to replace it, work that is known to be lost is not searched any further.
      if (!isLook(request.reason) || this.#current === null) {
        this.#current = null
        this.#newest.put(null)
      }
      return describeError(error)
    }
  }

  #deliver(work: Work, { reason, noticedAtMs }: Request): void {
    const { clock, refreshMs = REFRESH_MS } = this.#options
    const { fields } = work
    this.#cancelRefresh()
    this.#cancelRefresh = clock.after(refreshMs, () => this.#want('refreshed', fields.chainId))
    const previous = this.#current
    if (previous !== null && !previous.dead && sameWork(previous.work, work)) return
    // Answered before the node heard of our solution of it: what comes after it is asked for when the node did.
    if ([...this.#submitting].some((solved) => sameParent(solved, fields))) {
      if (previous !== null && !isLook(reason)) previous.dead = true
      return
    }
    this.#current = { work, dead: false }
    this.#follow(fields.chainId)
    this.#newest.put({ work, reason, noticedAtMs })
  }

  /** Opens the update stream of a chain, once. */
  #follow(chain: number): void {
    if (this.#streams.has(chain)) return
    const { client, stallMs, clock } = this.#options
    const stream = client.updates(chain, {
      stallMs,
      clock,
      signal: this.#signal,
      onNewCut: () => this.#preempt(chain),
      onOpen: () => {
        state.open = true
        // What happened between the request for work and now was missed: see whether the work still stands.
        if (this.#current?.work.fields.chainId === chain) this.#want('reconnected', chain)
      },
      onError: (error, retryInMs) => {
        state.open = false
        this.#events.onTrouble(`update stream of chain ${chain}: ${describeError(error)}`, retryInMs)
      },
    })
    const state = { stream, open: false }
    this.#streams.set(chain, state)
  }

  /** A New Cut on the chain of the current work: the work is over. On any other chain it means nothing to us. */
  #preempt(chain: number): void {
    const current = this.#current
    if (current === null || current.work.fields.chainId !== chain) return
    const ours = [...this.#submitting].some((fields) => sameParent(fields, current.work.fields))
    this.#want(ours ? 'solved' : 'newCut')
  }

  /** Posts a solution, again if the connection fails. null: the node took it. */
  async #post(solution: Uint8Array): Promise<Verdict | null> {
    const { client, clock, random } = this.#options
    let failure: unknown
    for (let attempt = 0; attempt < SUBMIT_ATTEMPTS; attempt++) {
      if (attempt > 0) await sleep(clock, random() * FIRST_BACKOFF_MS * 2 ** attempt)
      try {
        await client.solved(solution)
        return null
      } catch (error) {
        failure = error
        if (!(error instanceof NodeRefusal) || error.status >= 500) continue
        // After a lost answer the node may have taken it the first time: only the chain can tell.
        if (attempt > 0 && error.status === 404) return null
        return { kind: 'rejected', reason: rejectReason(error), message: describeError(error) }
      }
    }
    return { kind: 'failed', message: describeError(failure) }
  }

  /** Whether the block reached the node's chain: success of a submission does not say so (PROTOCOL.md A.2). */
  async #confirm(solution: Uint8Array, chain: number, height: number): Promise<Verdict> {
    const { client, clock } = this.#options
    const hash = blockHash(solution)
    for (const delayMs of CONFIRM_DELAYS_MS) {
      if (delayMs > 0) await sleep(clock, delayMs, this.#signal)
      try {
        // The cut first: a block that is in neither the cut read before nor the chain read after is not there.
        const head = (await client.cut()).hashes[chain]
        if ((await client.header(chain, hash)) !== null) return { kind: 'accepted', confirmed: true }
        if (head !== undefined && head.height >= height) return { kind: 'stale' }
      } catch (error) {
        if (error instanceof NodeRefusal && error.status < 500) return { kind: 'accepted', confirmed: false }
        this.#events.onTrouble(`cannot confirm a block: ${describeError(error)}`, delayMs)
      }
      if (this.#signal.aborted) break
    }
    return this.#signal.aborted ? { kind: 'accepted', confirmed: false } : { kind: 'stale' }
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
  if (error instanceof NodeRefusal) return error.status >= 400 && error.status < 500 && error.status !== 429
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

function rejectReason({ status, excerpt }: NodeRefusal): RejectReason {
  if (status === 404) return 'no-payload'
  if (status === 401 || status === 403) return 'unauthorized'
  if (/pow/i.test(excerpt)) return 'invalid-pow'
  if (/payload/i.test(excerpt)) return 'invalid-payload'
  return /decod/i.test(excerpt) ? 'undecodable' : 'unknown'
}
