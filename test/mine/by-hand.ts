/** A source and engines that a test drives by hand. */
import { decodeHex, readU64LE } from '../../src/ground/base/bytes.ts'
import { decodeWork, encodeWork } from '../../src/ground/chain/header.ts'
import type { FollowUp, Receipt } from '../../src/ground/chain/solution.ts'
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import { type Work, workFromBytes } from '../../src/ground/chain/work.ts'
import type { Candidate, Engine, EngineEvents, EngineWork } from '../../src/mining/engine/engine.ts'
import { Mailbox } from '../../src/mining/source/mailbox.ts'
import type { ForkVote, Job, JobReason, Solution, Source } from '../../src/mining/source/source.ts'
import { headerRecords } from '../records.ts'
import { jobOf } from '../source/job.ts'
import { settle, type VirtualClock } from './virtual-clock.ts'

const real = decodeHex(headerRecords.find(({ kind }) => kind === 'unsolved-work')?.header_hex ?? '')

/** Real work with a target that a test can meet. */
export function easyWork(height: bigint, difficulty = 50n): Work {
  return workFromBytes(encodeWork({ ...decodeWork(real), height, target: MAX_TARGET / difficulty }))
}

async function* endOf(source: { readonly end: Promise<FollowUp> }) {
  yield await source.end
}

/** A source that a test feeds by hand. */
export class FedSource implements Source {
  readonly waitReason = null
  readonly description = 'fed'
  readonly workBytes = 286
  readonly connected = true
  readonly mailbox = new Mailbox<Job | null>()
  readonly submitted: Uint8Array[] = []
  receipt: Promise<Receipt> = Promise.resolve({ step: 'acknowledged' })
  end: Promise<FollowUp> = Promise.resolve({ step: 'confirmed', depth: 1 })
  time: bigint | null = null
  readonly clock: VirtualClock

  constructor(clock: VirtualClock) {
    this.clock = clock
  }

  jobs(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.mailbox.close())
    return this.mailbox
  }

  onHandIn: () => void = () => undefined

  submit({ bytes }: Solution): Promise<Receipt> {
    this.onHandIn()
    this.submitted.push(bytes)
    return this.receipt
  }

  follow: () => AsyncIterable<FollowUp> = () => endOf(this)

  validatorTime = () => this.time
  upstreams = () => []
  chains = () => null

  vote: ForkVote | null = null
  forkVote = () => this.vote

  /** Id of the newest job. */
  newestId = ''

  async give(work: Work | null, reason: JobReason = 'newCut', parts: Partial<Job> = {}): Promise<void> {
    const job = work && jobOf(work, { reason, noticedAtMs: this.clock.monotonicMs(), ...parts })
    this.newestId = job?.id ?? ''
    this.mailbox.put(job)
    await settle()
  }
}

/** An engine whose candidates and hash counts the test sets. */
export class HandEngine implements Engine {
  readonly name = 'hand'
  readonly works: EngineWork[] = []
  readonly ready: Promise<void>
  hashed = 0
  stopped = false
  #events: EngineEvents | null = null

  constructor(ready = Promise.resolve()) {
    this.ready = ready
  }

  start(_workBytes: number, events: EngineEvents) {
    this.#events = events
    return this.ready
  }

  async setWork(work: EngineWork) {
    this.works.push(work)
    return true
  }

  devices = () => [{ device: 'd0', kernel: 'none', hashes: this.hashed, faults: 0 }]

  hashes = () => this.hashed

  async stop() {
    this.stopped = true
  }

  get newest(): EngineWork & { bytes: Uint8Array } {
    const work = this.works[this.works.length - 1]
    if (work?.bytes == null) throw new Error('the engine has no work')
    return { ...work, bytes: work.bytes }
  }

  async claim(
    solution: Uint8Array,
    sequence = this.newest.sequence,
    told: Pick<Candidate, 'creationTime' | 'hashesSince'> = {},
  ): Promise<void> {
    const nonce = readU64LE(solution, solution.length - 8)
    this.#events?.onCandidate({ sequence, nonce, device: 'd0', ...told })
    await settle()
  }
}
