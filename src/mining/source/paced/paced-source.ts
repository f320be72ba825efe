/**
 * Gives the work of another source one block at a time, when a pacer asks for a block. Between blocks there is no job,
 * so engines rest.
 *
 * A block whose target takes many hashes is submitted with any nonce. Nodes of development networks that run without
 * proof of work accept it, as they do not check the rule of PROTOCOL.md B.3. A node that checks it ends the source.
 */
import { encodeBase64Url } from '#ground/base/bytes.ts'
import { type NewcutError, operatingError } from '#ground/base/errors.ts'
import { orAborted } from '#ground/base/signals.ts'
import { blockHash } from '#ground/chain/block-hash.ts'
import type { FollowUp, Receipt } from '#ground/chain/solution.ts'
import { difficultyOf, MAX_TARGET } from '#ground/chain/target.ts'
import { sourceErrors } from '../errors.ts'
import { Mailbox } from '../mailbox.ts'
import type {
  ChainChoice,
  ChainStatus,
  ForkVote,
  Job,
  Solution,
  Source,
  SourceEvents,
  UpstreamStatus,
} from '../source.ts'

/** Maximum number of hashes that a block may take to be searched: about a second of one thread. A longer search would miss the pace. */
const MAX_SEARCH_HASHES = 1n << 20n

/** The error of a node that checks a proof of work that takes more than MAX_SEARCH_HASHES. */
export function searchTooLong(network: string, target: bigint): NewcutError {
  const hashes = `${difficultyOf(target)}`
  return operatingError(sourceErrors.searchTooLong, { network, hashes, most: MAX_SEARCH_HASHES })
}

/** Whether engines are to search a nonce for this target. */
export function isSearchable(target: bigint): boolean {
  const difficulty = difficultyOf(target)
  return difficulty !== null && difficulty <= MAX_SEARCH_HASHES
}

/** A block on its way. */
export interface PacedBlock {
  readonly chain: number
  readonly height: number
  /** Base64url. */
  readonly hash: string
  /** Resolves with whether its chain contains it, as far as that is known within 20 s. */
  readonly isMade: Promise<boolean>
}

/** Makes the blocks of a paced source until the signal aborts. Must not reject. */
export interface Pacer {
  readonly run: (source: PacedSource, signal: AbortSignal) => void
  /** Why there is no job between blocks, as the continuation of "waits". */
  readonly waitReason: string
}

interface PacedSourceOptions {
  readonly source: Source & ChainChoice
  readonly pacer: Pacer
  /** Name of the network, for errors. */
  readonly network: string
  /** Chains of the user. Default: all. */
  readonly chains?: readonly number[] | undefined
}

export class PacedSource implements Source, ChainChoice {
  readonly #options: PacedSourceOptions
  readonly #newest = new Mailbox<Job | null>()
  readonly #stopped = new AbortController()
  /** Jobs that were given. Other solutions are of earlier runs. */
  readonly #issuedJobs = new WeakSet<Job>()
  /** Solution -> reports whether its block is in its chain. */
  readonly #reports = new WeakMap<Solution, (isMade: boolean) => void>()
  #job: Job | null = null
  /** Takes the block of the permitted solution, or null while none is permitted. */
  #resolveBlock: ((block: PacedBlock) => void) | null = null
  #wanted: readonly number[] | undefined
  #steered: readonly number[] | null = null

  constructor(options: PacedSourceOptions) {
    this.#options = options
    this.#wanted = options.chains
  }

  get #source(): Source & ChainChoice {
    return this.#options.source
  }

  get description(): string {
    return this.#source.description
  }

  get workBytes(): number {
    return this.#source.workBytes
  }

  get connected(): boolean {
    return this.#source.connected
  }

  /** Null while a block is to be made. */
  get waitReason(): string | null {
    return this.#resolveBlock === null ? this.#options.pacer.waitReason : null
  }

  /** The chains of the user, or undefined for all. */
  get wanted(): readonly number[] | undefined {
    return this.#wanted
  }

  forkVote(): ForkVote | null {
    return this.#source.forkVote()
  }

  validatorTime(): bigint | null {
    return this.#source.validatorTime()
  }

  upstreams(): readonly UpstreamStatus[] {
    return this.#source.upstreams()
  }

  chains(): readonly ChainStatus[] | null {
    return this.#source.chains()
  }

  setChains(chains: readonly number[] | undefined): void {
    this.#wanted = chains
    if (this.#steered === null) this.#source.setChains(chains)
  }

  /** Makes the next block on one of these chains; null for those of the user. */
  steer(chains: readonly number[] | null): void {
    if (String(chains) === String(this.#steered)) return
    this.#steered = chains
    this.#source.setChains(chains ?? this.#wanted)
  }

  /**
   * Gives jobs until one of them is solved. One call at a time.
   * @returns the block on its way. Rejects with the reason of the signal
   */
  async nextBlock(signal: AbortSignal): Promise<PacedBlock> {
    signal.throwIfAborted()
    const found = new Promise<PacedBlock>((resolve) => {
      this.#resolveBlock = resolve
    })
    this.#giveJob()
    try {
      return await orAborted(found, signal)
    } finally {
      this.#endTurn()
    }
  }

  async *jobs(signal: AbortSignal, events: SourceEvents): AsyncGenerator<Job | null, void, void> {
    if (signal.aborted) return
    const { signal: stopped } = this.#stopped
    void this.#read(events).catch((error) => this.#stop(error))
    this.#newest.put(null)
    this.#options.pacer.run(this, stopped)
    yield* this.#newest.until(signal, () => this.#stop())
  }

  async submit(solution: Solution): Promise<Receipt> {
    const { job } = solution
    if (this.#issuedJobs.has(job)) this.#begin(solution)
    const receipt = await this.#source.submit(solution)
    if (receipt.step === 'acknowledged') return receipt
    this.#reports.get(solution)?.(false)
    const { target } = job.work.fields
    if (receipt.step === 'rejected' && receipt.reason === 'invalid-pow' && job.target !== target) {
      this.#stop(searchTooLong(this.#options.network, target))
    }
    return receipt
  }

  async *follow(solution: Solution, signal: AbortSignal): AsyncGenerator<FollowUp, void, void> {
    const report = this.#reports.get(solution) ?? (() => undefined)
    try {
      for await (const news of this.#source.follow(solution, signal)) {
        report(news.step === 'confirmed')
        yield news
      }
    } finally {
      report(false)
    }
  }

  async #read(events: SourceEvents): Promise<void> {
    for await (const job of this.#source.jobs(this.#stopped.signal, events)) {
      this.#job = job && easeTarget(job)
      if (this.#resolveBlock !== null) this.#giveJob()
    }
  }

  #giveJob(): void {
    const job = this.#job
    // Another chain was chosen, and its work is on its way.
    const isOther = job !== null && this.#steered?.includes(job.work.fields.chainId) === false
    if (job !== null && !isOther) this.#issuedJobs.add(job)
    this.#newest.put(isOther ? null : job)
  }

  #endTurn(): void {
    if (this.#resolveBlock === null) return
    this.#resolveBlock = null
    this.#newest.put(null)
  }

  /** Ends the turn with its solution. */
  #begin(solution: Solution): void {
    const { job, bytes } = solution
    if (this.#job === job) this.#job = null
    const turn = this.#resolveBlock
    if (turn === null) return
    this.#endTurn()
    const { chainId: chain, height } = job.work.fields
    const isMade = new Promise<boolean>((report) => this.#reports.set(solution, report))
    turn({ chain, height: Number(height), hash: encodeBase64Url(blockHash(bytes)), isMade })
  }

  #stop(error?: unknown): void {
    if (this.#stopped.signal.aborted) return
    this.#stopped.abort(error ?? operatingError(sourceErrors.minerStops))
    this.#newest.close(error)
  }
}

/** The job with a target that any nonce meets, if a search would take too long. */
function easeTarget(job: Job): Job {
  return isSearchable(job.work.fields.target) ? job : { ...job, target: MAX_TARGET }
}
