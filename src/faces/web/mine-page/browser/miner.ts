/**
 * The page's miner: gives the newest work to the GPU, verifies every candidate, and submits solutions. Run one at a
 * time: `run` ends when the signal aborts, or rejects with the error that ends mining.
 */
import { backoffMs } from '#ground/base/backoff.ts'
import { equalBytes } from '#ground/base/bytes.ts'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { sameParents, withNonce } from '#ground/chain/header.ts'
import { solves } from '#ground/chain/pow.ts'
import { difficultyOf } from '#ground/chain/target.ts'
import type { Work } from '#ground/chain/work.ts'
import type { MinerBody } from '#ground/schema/bodies.ts'
import { BatchSize, NonceCursor } from '#mining/engine/gpu/batches.ts'
import { prepareWork, SEARCHED_WORK_BYTES } from '#mining/engine/gpu/layout.ts'
import type { GpuReport } from '#mining/engine/gpu/messages.ts'
import { SearchLoop } from '#mining/engine/gpu/search-loop.ts'
import { nonceRanges } from '#mining/engine/range.ts'
import { followEvents } from '../../kit/stream.ts'
import type { SolutionEnd } from '../wire.ts'
import { IN_FLIGHT, type SearchDevice, TRIPS, WORKGROUP } from './device.ts'
import { fetchShareWork, GatewayRefusal, mayPass } from './gateway.ts'
import { handInSolution } from './hand-in.ts'
import { Problem } from './problem.ts'

/** Target duration of a batch. The browser renders with the same GPU. */
const BATCH_MS = 20
/** Nodes forget work after 5 minutes (PROTOCOL.md A.1). */
const REFRESH_MS = 120_000
const FIRST_PAUSE_MS = 300
const MAX_PAUSE_MS = 15_000
/** Limit of solutions without a verdict. Browsers open six connections per server; a stream and a request need two. */
const MAX_PENDING = 4
/** Retry interval while the device has no work. */
const IDLE_PAUSE_MS = 300
const LOST_GRACE_MS = 500
/** Age of work at which its chain is followed; easier work is solved before a stream opens. */
const SETTLE_MS = 400
/** Silence after which the stream counts as broken; the gateway sends something every 10 s. */
const MAX_SILENT_MS = 30_000
/** Jobs that may still return results. */
const MAX_JOBS = 8

export interface WorkShown {
  readonly chain: number
  readonly height: number
  /** Difficulty in hashes. */
  readonly difficulty: number
}

export interface MinerEvents {
  readonly onHashes: (hashes: number) => void
  readonly onWork: (work: WorkShown) => void
  readonly onEnd: (end: SolutionEnd) => void
  /** Called for a wrong candidate of the device. */
  readonly onWrongHash: () => void
  /** Called when there is no work, with the pause until the next request. */
  readonly onTrouble: (message: string, pauseMs: number) => void
  readonly onRecovered: () => void
}

export interface PageMinerOptions {
  readonly device: SearchDevice
  readonly account: MinerBody
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly events: MinerEvents
}

interface PageWork {
  readonly work: Work
  readonly shown: WorkShown
  isSolved: boolean
}

export class PageMiner {
  readonly #options: PageMinerOptions
  readonly #loop: SearchLoop
  readonly #jobs = new Map<number, PageWork>()
  #sequence = 0
  #current: PageWork | null = null
  /** The chain whose update stream is open. */
  #followed: number | null = null
  #unfollow: () => void = () => undefined
  #pending = 0
  /** Counts requests for new work; `#hurry` ends the wait before the next one. */
  #calls = 0
  #hurry = () => undefined as unknown

  constructor(options: PageMinerOptions) {
    const { device, clock, random } = options
    this.#options = options
    const [range] = nonceRanges(1, random)
    const unit = WORKGROUP * TRIPS
    this.#loop = new SearchLoop({
      runner: device.runner,
      inFlight: IN_FLIGHT,
      cursor: new NonceCursor(range, TRIPS),
      size: new BatchSize(BATCH_MS, unit, 16 * unit),
      send: (report) => this.#take(report),
      nowMs: () => clock.monotonicMs(),
    })
  }

  /** Mines until the signal aborts. Pending solutions are still submitted. @throws Problem, or the device's error */
  async run(stopped: AbortSignal): Promise<void> {
    const { device, clock } = this.#options
    const ended = new AbortController()
    const serving = this.#serve(AbortSignal.any([stopped, ended.signal]))
    try {
      await Promise.race([this.#loop.run(), device.failed, serving])
    } catch (error) {
      ended.abort()
      // A lost device fails its batches too, perhaps before the browser gives the reason.
      if (!(error instanceof Problem)) await Promise.race([device.failed, sleep(clock, LOST_GRACE_MS)])
      throw error
    } finally {
      // A pending answer would bring work to a lost device.
      ended.abort()
      await Promise.allSettled([serving])
      this.#follow(null)
      this.#search(null)
    }
  }

  /** Keeps the device supplied with the newest work. */
  async #serve(stopped: AbortSignal): Promise<void> {
    let attempts = 0
    while (!stopped.aborted) {
      const calls = this.#calls
      try {
        if (this.#pending < MAX_PENDING)
          this.#use(await fetchShareWork(this.#options.account, this.#wantedChain, stopped))
        if (attempts > 0) this.#options.events.onRecovered()
        attempts = 0
      } catch (error) {
        if (stopped.aborted) return
        await this.#pause(error, attempts++, stopped)
        continue
      }
      if (calls === this.#calls) await this.#wait(this.#isIdle ? IDLE_PAUSE_MS : REFRESH_MS, stopped)
    }
  }

  get #isIdle(): boolean {
    return this.#current === null || this.#current.isSolved
  }

  /** The searched chain: only new work of that chain shows whether the current work is valid. */
  get #wantedChain(): number | null {
    return this.#isIdle ? null : (this.#current?.shown.chain ?? null)
  }

  /**
   * Waits before a retry.
   * @throws Problem if a retry cannot help
   */
  async #pause(error: unknown, attempts: number, stopped: AbortSignal): Promise<void> {
    if (error instanceof GatewayRefusal && error.status === 403) {
      throw new Problem(
        `The node refused: ${error.message}.`,
        'This node mines only for certain accounts. Enter one of them.',
      )
    }
    if (error instanceof GatewayRefusal && !mayPass(error)) {
      throw new Problem(`The node refused: ${error.message}.`, 'Check the account, then start again.')
    }
    const pauseMs = backoffMs(
      { firstMs: FIRST_PAUSE_MS, maxMs: MAX_PAUSE_MS, jitter: 0.5 },
      attempts,
      this.#options.random,
    )
    if (error instanceof Problem || !(error instanceof Error)) throw error
    this.#options.events.onTrouble(error.message, pauseMs)
    await sleep(this.#options.clock, pauseMs, stopped)
  }

  /** Opens the update stream of this chain, or closes it for null. */
  #follow(chain: number | null): void {
    if (chain === this.#followed) return
    this.#followed = chain
    this.#unfollow()
    if (chain === null) return
    const onNews = () => this.#callForWork()
    this.#unfollow = followEvents({
      url: `/mine/updates?chain=${chain}`,
      // Updates before the stream opened were missed, so request work at once.
      events: { cut: onNews, stands: onNews, broken: onNews, alive: () => undefined },
      // The node may be down; a request for work shows that.
      onLost: onNews,
      maxSilentMs: MAX_SILENT_MS,
      delayMs: SETTLE_MS,
    })
  }

  #callForWork(): void {
    this.#calls++
    this.#hurry()
  }

  async #wait(mostMs: number, stopped: AbortSignal): Promise<void> {
    const early = new AbortController()
    this.#hurry = () => early.abort()
    await sleep(this.#options.clock, mostMs, AbortSignal.any([stopped, early.signal]))
  }

  /** Gives work to the device. The same job continues; other work preempts it. */
  #use(work: Work): void {
    const { bytes, fields } = work
    if (bytes.length !== SEARCHED_WORK_BYTES) {
      const size = `Work of this network has ${bytes.length} bytes, but this page supports only ${SEARCHED_WORK_BYTES}.`
      throw new Problem(size, 'On networks with another graph than petersen or twenty, use newcut mine.')
    }
    const known = [...this.#jobs.values()].filter((job) => sameParents(job.work.fields, fields))
    // The node has not processed our solution yet, or its chain has not advanced.
    if (known.some(({ isSolved }) => isSolved)) return
    const before = this.#current?.work.fields
    if (before && sameParents(before, fields) && equalBytes(before.payloadHash, fields.payloadHash)) return
    const shown = {
      chain: fields.chainId,
      height: Number(fields.height),
      difficulty: Number(difficultyOf(fields.target) ?? 0n),
    }
    this.#search({ work, shown, isSolved: false })
    this.#follow(shown.chain)
    this.#options.events.onWork(shown)
  }

  #search(job: PageWork | null): void {
    const sequence = ++this.#sequence
    this.#current = job
    if (job !== null) this.#jobs.set(sequence, job)
    for (const old of this.#jobs.keys()) if (old <= sequence - MAX_JOBS) this.#jobs.delete(old)
    this.#loop.setWork({ sequence, work: job && prepareWork(job.work.bytes, job.work.fields.target) })
  }

  #take(report: GpuReport): void {
    if (report.type !== 'batch') return
    this.#options.events.onHashes(report.nonces)
    const job = this.#jobs.get(report.sequence)
    for (const nonce of report.candidates) if (job !== undefined) this.#judge(job, BigInt(`0x${nonce}`))
  }

  /** Verifies a candidate before it counts: a node forgets the work after a wrong solution. */
  #judge(job: PageWork, nonce: bigint): void {
    const bytes = Uint8Array.from(withNonce(job.work.bytes, nonce))
    if (!solves(bytes)) {
      this.#options.events.onWrongHash()
      return
    }
    if (job.isSolved) return
    job.isSolved = true
    if (job === this.#current) this.#loop.setWork({ sequence: ++this.#sequence, work: null })
    void this.#submit(job, bytes)
    this.#callForWork()
  }

  async #submit(job: PageWork, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const { clock, random, events } = this.#options
    this.#pending++
    const end = await handInSolution(bytes, job.shown, { clock, random })
    this.#pending--
    if (end.verdict === 'rejected' || end.verdict === 'lost') {
      // No block resulted, so work on the same parent is useful again, even the same work.
      job.isSolved = false
      if (job === this.#current) this.#current = null
    }
    events.onEnd(end)
    this.#callForWork()
  }
}
