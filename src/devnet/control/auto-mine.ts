/** Automatic mining without proof of work: at a constant pace, or at the pace of a hashrate. */
import type { Clock } from '#ground/base/clock.ts'
import { NewcutError } from '#ground/base/errors.ts'
import type { Cut } from '#ground/chain/cut.ts'
import { difficultyOf } from '#ground/chain/target.ts'
import type { AutoMine } from '#ground/schema/devnet-modes.ts'
import type { Addition } from '../rules/chains.ts'
import { type BlockMaker, headOf } from './block-maker.ts'

interface AutoMinerOptions {
  readonly mode: AutoMine
  readonly maker: BlockMaker
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
}

/** Maximum blocks that one timer makes if timers are slower than the pace. More would hold up requests. */
const MAX_BURST_BLOCKS = 20
/** Skip blocks that are overdue by more than this: the machine cannot keep the pace. */
const MAX_LAG_MS = 1000
/** Retry interval while no chain can be mined. */
const NO_CHAIN_RETRY_MS = 100
/** Longest timer: an hour. Timers of Node.js fire at once when set to 25 days or more. */
const MAX_WAIT_MS = 3_600_000

export class AutoMiner {
  readonly #options: AutoMinerOptions
  readonly #mode: AutoMine
  readonly #unsubscribe: () => void
  #cancel: () => void = () => undefined
  /** Due time of the next block (monotonic), and its chain; null if no chain can be mined. */
  #dueMs = 0
  #chain: number | null = null
  #running = true
  #making = false

  /** Starts at once. */
  constructor(options: AutoMinerOptions) {
    this.#options = options
    this.#mode = options.mode
    // The wait was drawn for the old cut and difficulty. Exponential waits have no memory, so a new draw keeps the
    // rate.
    this.#unsubscribe = options.maker.chains.onCut(() => {
      if (this.#mode.kind !== 'simulated' || this.#making) return
      this.#draw(this.#nowMs)
      this.#schedule()
    })
    if (options.mode.kind === 'on-demand') return
    this.#draw(this.#nowMs)
    this.#schedule()
  }

  stop(): void {
    this.#running = false
    this.#unsubscribe()
    this.#cancel()
  }

  get #nowMs(): number {
    return this.#options.clock.monotonicMs()
  }

  #schedule(): void {
    this.#cancel()
    if (!this.#running) return
    const waitMs = Math.min(Math.max(0, this.#dueMs - this.#nowMs), MAX_WAIT_MS)
    this.#cancel = this.#options.clock.after(waitMs, () => this.#due())
  }

  #due(): void {
    this.#making = true
    try {
      for (let made = 0; made < MAX_BURST_BLOCKS && this.#dueMs <= this.#nowMs; made++) {
        this.#make()
        // The next wait counts from the due time of this block, so slow timers cost no blocks.
        this.#draw(Math.max(this.#dueMs, this.#nowMs - MAX_LAG_MS))
      }
    } finally {
      this.#making = false
    }
    this.#schedule()
  }

  #make(): void {
    const { maker } = this.#options
    // The chain may have been paused or blocked after the draw.
    if (this.#chain === null || !maker.coordinator.open.includes(this.#chain)) return
    const addition = this.#makeNow(this.#chain)
    if (addition === null) return
    if (addition.status === 'invalid') throw new Error(`made a block that breaks ${addition.rules.join(', ')}`)
  }

  /**
   * @returns null if the block is skipped: the disk is too slow or failed, or a forked network has not told its state
   */
  #makeNow(chain: number): Addition | null {
    try {
      return this.#options.maker.makeNow(chain)
    } catch (error) {
      if (error instanceof NewcutError && error.code === 'DATA_UNUSABLE') return null
      throw error
    }
  }

  /** Draws the chain and the due time of the next block. @param fromMs due time of the block before */
  #draw(fromMs: number): void {
    const { maker, random } = this.#options
    const mode = this.#mode
    const { open } = maker.coordinator
    const candidates = mode.kind === 'constant' ? lowestOf(open, maker.chains.cut) : open
    this.#chain = candidates[Math.floor(random() * candidates.length)] ?? null
    if (mode.kind === 'constant') this.#dueMs = fromMs + mode.blockTimeMs / maker.chains.cut.size
    else if (this.#chain === null) this.#dueMs = fromMs + NO_CHAIN_RETRY_MS
    else if (mode.kind === 'simulated') this.#dueMs = fromMs + this.#searchMs(this.#chain, mode.hashesPerSecond)
  }

  /** Draws the search time of the next block of a chain. */
  #searchMs(chain: number, hashesPerSecond: number): number {
    const { maker, random } = this.#options
    const difficulty = difficultyOf(maker.nextTarget(chain))
    // No hash meets a target of 0.
    if (difficulty === null) return Number.POSITIVE_INFINITY
    return (-Math.log(1 - random()) * Number(difficulty) * 1000) / hashesPerSecond
  }
}

function lowestOf(chains: readonly number[], cut: Cut): number[] {
  const heights = chains.map((chain) => Number(headOf(cut, chain).height))
  const lowest = Math.min(...heights)
  return chains.filter((_, i) => heights[i] === lowest)
}
