/** An engine that finds solutions at its own rate on virtual time. Its solutions are real: it hashes nonces. */
import { withNonce } from '../../src/ground/chain/header.ts'
import { meets, powHash } from '../../src/ground/chain/pow.ts'
import { type Work, workFromBytes } from '../../src/ground/chain/work.ts'
import type { DeviceStatus, Engine, EngineEvents, EngineWork } from '../../src/mining/engine/engine.ts'
import type { VirtualTime } from './virtual-time.ts'

/** Share of wrong candidates, and share of candidates for the previous work. */
const WRONG_SHARE = 0.05
const LATE_SHARE = 0.05

export interface SimulatedEngineOptions {
  readonly time: VirtualTime
  readonly random: () => number
  /** Mean time between solutions. */
  readonly meanMs: number
  /** Called when the engine claims a nonce that solves its work. */
  readonly onFound: (work: EngineWork, bytes: Uint8Array) => void
}

export class SimulatedEngine implements Engine {
  readonly name = 'simulated'
  readonly #options: SimulatedEngineOptions
  /** The current work, or null. */
  work: Work | null = null
  /** Whether it finds any solutions. */
  isLucky = true
  #given: EngineWork | null = null
  #before: EngineWork | null = null
  #events: EngineEvents | null = null
  #cancel: () => void = () => undefined
  #hashes = 0

  constructor(options: SimulatedEngineOptions) {
    this.#options = options
  }

  async start(_workBytes: number, events: EngineEvents): Promise<void> {
    this.#events = events
  }

  async setWork(work: EngineWork): Promise<boolean> {
    if (this.#given?.bytes != null && this.#given.job !== work.job) this.#before = this.#given
    this.#given = work
    this.work = work.bytes === null ? null : workFromBytes(work.bytes)
    this.#plan()
    return true
  }

  hashes(): number {
    return this.#hashes
  }

  devices(): readonly DeviceStatus[] {
    return [{ device: '0', kernel: 'simulated', hashes: this.#hashes, faults: 0 }]
  }

  async stop(): Promise<void> {
    this.#cancel()
    this.#events = null
    this.work = null
  }

  #plan(): void {
    this.#cancel()
    if (this.work === null) return
    const { time, random, meanMs } = this.#options
    const waitMs = -Math.log(1 - random()) * meanMs
    this.#cancel = time.after(waitMs, () => {
      time.owner = 'miner'
      this.#find()
      this.#plan()
    })
  }

  #find(): void {
    const { random, onFound } = this.#options
    const given = random() < LATE_SHARE ? this.#before : this.#given
    if (!this.isLucky || given?.bytes == null) return
    let nonce = BigInt(Math.floor(random() * 2 ** 48))
    const isWrong = random() < WRONG_SHARE
    for (; ; nonce++) {
      const bytes = withNonce(given.bytes, nonce)
      this.#hashes++
      const solves = meets(powHash(bytes), given.target)
      if (solves === isWrong) continue
      if (solves) onFound(given, bytes)
      this.#events?.onCandidate({ sequence: given.sequence, nonce, device: '0' })
      return
    }
  }
}
