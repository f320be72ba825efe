/** Automatic mining of a node, whose mode may change while the node runs. */
import type { Clock } from '#ground/base/clock.ts'
import type { AutoMine } from '#ground/schema/devnet-modes.ts'
import { ArrivalMiner } from './arrival-miner.ts'
import { AutoMiner } from './auto-mine.ts'
import type { BlockMaker } from './block-maker.ts'
import { ControlError } from './control-error.ts'

interface MiningOptions {
  readonly maker: BlockMaker
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly onNotice: (message: string, kind?: 'progress') => void
}

export class AutoMining {
  readonly #options: MiningOptions
  readonly #first: AutoMine | null
  #mode: AutoMine | null
  #miner: { stop(): void } | null = null

  /** @param mode null if only miners and control requests make blocks */
  constructor(mode: AutoMine | null, options: MiningOptions) {
    this.#first = mode
    this.#mode = mode
    this.#options = options
  }

  get mode(): AutoMine | null {
    return this.#mode
  }

  start(): void {
    const mode = this.#mode
    if (mode === null) return
    this.#miner =
      mode.kind === 'on-arrival'
        ? new ArrivalMiner({ ...this.#options, confirmations: mode.confirmations })
        : new AutoMiner({ ...this.#options, mode })
  }

  stop(): void {
    this.#miner?.stop()
  }

  /** Goes back to the mode of the start. */
  reset(): void {
    if (this.#mode === this.#first) return
    this.stop()
    this.#mode = this.#first
    this.start()
  }

  /** Changes the mode of a started node. @throws ControlError on a network with proof of work */
  change(mode: AutoMine): void {
    if (this.#options.maker.chains.checkPow) throw new ControlError({ kind: 'needs-work' })
    this.stop()
    this.#mode = mode
    this.start()
  }
}
