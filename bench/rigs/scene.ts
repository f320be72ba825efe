/** Model rigs at the real server in virtual time, with changing work and network latency. */
import { MAX_TARGET } from '../../src/ground/chain/target.ts'
import type { Candidate, EngineWork } from '../../src/mining/engine/engine.ts'
import { noWork } from '../../src/mining/engine/engine.ts'
import { StratumEngine, type StratumOptions } from '../../src/mining/engine/stratum/stratum.ts'
import { engineWork, freshWork, UNREACHABLE } from '../work.ts'
import type { Network } from './link.ts'
import { modelHash } from './model-hash.ts'
import { ModelRig } from './model-rig.ts'
import type { RigModel } from './models.ts'
import { settle, VirtualClock } from './virtual-clock.ts'

export interface SceneOptions {
  readonly rigs: readonly RigModel[]
  readonly random: () => number
  /** Interval of new work; infinite for a single piece. */
  readonly workMs: number
  /** Block difficulty in hashes. Default: no rig finds a block. A block ends the work and brings the next. */
  readonly blockDifficulty?: bigint
  /** One-way latency in milliseconds. Default: none. */
  readonly latencyMs?: () => number
  /** Time within which rigs connect one by one. Default: all at once. */
  readonly withinMs?: number
  /** Whether there is no work until `work` is called. */
  readonly isWithoutWork?: boolean
  readonly server?: Partial<StratumOptions>
}

export class Scene {
  readonly clock = new VirtualClock()
  readonly engine: StratumEngine
  readonly rigs: readonly ModelRig[]
  readonly network: Network
  readonly warnings: string[] = []
  readonly candidates: Candidate[] = []
  readonly #options: SceneOptions
  #sequence = 0
  #hasWork = false
  #cancelWork: () => void = () => undefined

  private constructor(options: SceneOptions) {
    const { rigs, random, latencyMs = () => 0, server } = options
    const { clock } = this
    this.#options = options
    const address = { host: '127.0.0.1', port: 0, tls: null, difficulty: null }
    this.engine = new StratumEngine({
      ...address,
      clock,
      random,
      shareHash: modelHash,
      limits: { sessionsPerAddress: 65_536 },
      ...server,
    })
    this.network = { clock, latencyMs, isLost: false }
    this.rigs = rigs.map((model, index) => {
      const user = rigs.length === 1 ? 'k:abc.rig' : `k:abc.rig-${index}`
      const accept = this.engine.accept.bind(this.engine)
      return new ModelRig(clock, { model, user, random, accept, network: this.network })
    })
  }

  /** Opens a server with work. Rigs are not connected yet. */
  static async open(options: SceneOptions): Promise<Scene> {
    const scene = new Scene(options)
    await scene.engine.start(286, {
      onCandidate: (candidate) => scene.#onCandidate(candidate),
      onWarning: (message) => scene.warnings.push(message),
    })
    if (options.isWithoutWork !== true) scene.work()
    return scene
  }

  /** Connects all rigs and starts the measurement. */
  async connect(): Promise<void> {
    const { withinMs = 0 } = this.#options
    const connect = (rig: ModelRig) => {
      rig.measure()
      rig.connect()
    }
    for (const [index, rig] of this.rigs.entries()) {
      if (withinMs === 0) connect(rig)
      else this.clock.after((withinMs * index) / this.rigs.length, () => connect(rig))
    }
    await settle()
  }

  measure(): void {
    for (const rig of this.rigs) rig.measure()
  }

  async pass(seconds: number): Promise<void> {
    await this.clock.pass(seconds * 1000)
  }

  /** Resumes work and its changes. */
  work(reason = 'start'): void {
    const { workMs, blockDifficulty = UNREACHABLE } = this.#options
    this.#hasWork = true
    const work = engineWork(++this.#sequence, freshWork(blockDifficulty), MAX_TARGET / blockDifficulty)
    void this.engine.setWork({ ...work, reason } as EngineWork)
    this.#cancelWork()
    if (Number.isFinite(workMs)) this.#cancelWork = this.clock.after(workMs, () => this.work('newCut'))
  }

  /** Stops work. */
  rest(): void {
    this.#cancelWork()
    this.#hasWork = false
    void this.engine.setWork(noWork(++this.#sequence))
  }

  async close(): Promise<void> {
    this.#cancelWork()
    for (const rig of this.rigs) rig.stop()
    await this.engine.stop()
  }

  #onCandidate(candidate: Candidate): void {
    this.candidates.push(candidate)
    if (this.#hasWork && candidate.sequence === this.#sequence)
      this.clock.after(1, () => this.#hasWork && this.work('solved'))
  }
}
