/** The search loop of one device: keeps batches in flight, switches to new work, and reports results. */
import {
  type BatchSize,
  checkProof,
  maxNoncesFor,
  type NonceCursor,
  PROOF_CANDIDATES,
  provingBound,
  splitBatch,
} from './batches.ts'
import { type Batch, type BatchResult, judgeNonce, MAX_RESULT_NONCES, nonceCount, type PreparedWork } from './layout.ts'
import type { GpuReport } from './messages.ts'

/** Runs batches. Each slot has its own buffers and one batch at a time. */
export interface BatchRunner {
  /** Rejects if the result does not belong to the batch. */
  run(slot: number, work: PreparedWork, batch: Batch): Promise<BatchResult>
}

interface SearchLoopOptions {
  readonly runner: BatchRunner
  readonly inFlight: number
  readonly cursor: NonceCursor
  readonly size: BatchSize
  readonly send: (report: GpuReport) => void
  readonly nowMs: () => number
  /** Minimum number of expected candidates per batch, as proof of the search. Default: PROOF_CANDIDATES. */
  readonly proofCandidates?: number
  /** Pause after each batch in milliseconds. Default: none. */
  readonly paceMs?: number
}

/** Numbered work, or null if there is nothing to search. */
interface NumberedWork {
  readonly sequence: number
  readonly work: PreparedWork | null
}

/** After this many solutions for one work the device slows down: the target is trivial, and one solution is enough. */
const MAX_SOLUTION_BURST = 8
const SOLUTION_PAUSE_MS = 5
const SIGN_OF_LIFE_MS = 500

export class SearchLoop {
  readonly #options: SearchLoopOptions
  #current: NumberedWork = { sequence: -1, work: null }
  /** The work of the last search. */
  #searched: PreparedWork | null = null
  #began = -1
  /** Sequences of the batches on the device, the oldest first. */
  readonly #inFlight: { readonly sequence: number }[] = []
  /** Halves of batches of the current work with more candidates than a result holds. */
  #redo: Batch[] = []
  #solutions = 0
  #lastResultMs = 0
  #wake: () => void = () => undefined
  #awake: Promise<void> = Promise.resolve()

  constructor(options: SearchLoopOptions) {
    this.#options = options
    this.#sleep()
  }

  setWork(current: NumberedWork): void {
    if (current.work !== null && !isSameHeader(current.work, this.#searched)) this.#options.cursor.restart()
    this.#searched = current.work ?? this.#searched
    this.#current = current
    this.#redo = []
    this.#solutions = 0
    this.#rest()
    this.#wake()
    this.#sleep()
  }

  /** Searches until the device fails, and then rejects. */
  async run(): Promise<never> {
    const slots = Array.from({ length: this.#options.inFlight }, (_, slot) => this.#serve(slot))
    await Promise.all(slots)
    throw new Error('the search ended')
  }

  /** Keeps one slot busy. */
  async #serve(slot: number): Promise<void> {
    for (;;) {
      const { sequence, work } = this.#current
      if (work === null) await this.#awake
      else await this.#search(slot, sequence, work)
    }
  }

  async #search(slot: number, sequence: number, work: PreparedWork): Promise<void> {
    const { runner, size, cursor, nowMs, proofCandidates = PROOF_CANDIDATES } = this.#options
    const wanted = Math.min(size.nonces, cursor.maxNonces)
    const left = this.#redo.pop()
    if (left === undefined && cursor.isExhausted(work.fixedNonce)) {
      await this.#restUntilOther(sequence)
      return
    }
    const batch = left ?? cursor.next(Math.min(wanted, maxNoncesFor(work.bound)), work.fixedNonce)
    const proving = { ...work, bound: Math.max(work.bound, provingBound(nonceCount(batch), proofCandidates)) }
    const entry = { sequence }
    this.#inFlight.push(entry)
    this.#announce()
    const startMs = nowMs()
    const result = await runner.run(slot, proving, batch)
    const endMs = nowMs()
    // The device runs batches one at a time: this one could not start before the previous one ended.
    const serviceMs = endMs - Math.max(startMs, this.#lastResultMs)
    this.#lastResultMs = endMs
    this.#inFlight.splice(this.#inFlight.indexOf(entry), 1)
    this.#announce()
    if (nonceCount(batch) === wanted) size.learn(serviceMs, wanted)
    this.#onResult(sequence, proving, batch, result, serviceMs)
    this.#rest()
    const { paceMs = 0 } = this.#options
    const pauseMs = this.#solutions > MAX_SOLUTION_BURST ? Math.max(paceMs, SOLUTION_PAUSE_MS) : paceMs
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }

  #onResult(sequence: number, work: PreparedWork, batch: Batch, result: BatchResult, serviceMs: number): void {
    const isCurrent = sequence === this.#current.sequence
    const nonces = nonceCount(batch)
    if (result.found > nonces) throw new Error(`${result.found} candidates in ${nonces} nonces`)
    if (result.found > MAX_RESULT_NONCES && isCurrent) {
      this.#redo.push(...splitBatch(batch))
      return
    }
    const judged = result.nonces.map((nonce) => ({ nonce, verdict: judgeNonce(work, nonce) }))
    checkProof(nonces, work.bound, judged.filter(({ verdict }) => verdict !== 'false').length)
    // Wrong nonces are reported too: the miner checks them and counts them as errors of this device.
    const candidates = judged.filter(({ verdict }) => verdict !== 'near').map(({ nonce }) => nonce)
    if (isCurrent) this.#solutions += candidates.length
    this.#options.send({
      type: 'batch',
      sequence,
      nonces,
      serviceMs,
      candidates: candidates.map((nonce) => nonce.toString(16).padStart(16, '0')),
    })
  }

  /**
   * Waits for other work. A pool may leave so few nonces that they are exhausted in seconds. Sends signs of life,
   * because a silent device counts as hung.
   */
  async #restUntilOther(sequence: number): Promise<void> {
    const { send } = this.#options
    if (this.#inFlight.length === 0) this.#begin(sequence)
    const pause = new Promise((resolve) => setTimeout(resolve, SIGN_OF_LIFE_MS))
    await Promise.race([this.#awake, pause])
    if (sequence === this.#began) send({ type: 'began', sequence })
  }

  /** Reports the oldest batch, which the device is working on. */
  #announce(): void {
    const oldest = this.#inFlight[0]
    if (oldest !== undefined) this.#begin(oldest.sequence)
  }

  /** Without work, reports that as begun once all batches are done and their results are sent. */
  #rest(): void {
    const { sequence, work } = this.#current
    if (work === null && this.#inFlight.length === 0) this.#begin(sequence)
  }

  #begin(sequence: number): void {
    if (sequence <= this.#began) return
    this.#began = sequence
    this.#options.send({ type: 'began', sequence })
  }

  #sleep(): void {
    this.#awake = new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}

function isSameHeader({ mid }: PreparedWork, other: PreparedWork | null): boolean {
  if (other === null) return false
  const isSame = (name: 'state' | 'tail') => mid[name].every((word, i) => word === other.mid[name][i])
  return isSame('state') && isSame('tail')
}
