/** Keeps the newest blocks of a miner for pool dashboards. */
import type { StepName } from '../core/solution.ts'
import type { MinerEvent, SolutionEvent } from '../mine/events.ts'

const MAX_BLOCKS = 100

/** A block of an earlier run, from the journal. */
export interface FormerBlock {
  readonly hash: string
  readonly chain: number
  readonly height: number
  readonly difficulty: number
  readonly state: StepName
  readonly effort: number
  /** Coins as a decimal number, or null if unknown. */
  readonly reward: string | null
  readonly device: string
  readonly foundAt: string
}

export interface PoolBlock extends Omit<FormerBlock, 'device' | 'foundAt'> {
  /** The account in the rig's user name. */
  readonly miner: string
  readonly foundAtMs: number
}

export class PoolBlocks {
  /** Hash -> block, oldest first. */
  readonly #blocks = new Map<string, PoolBlock>()
  readonly #userOf: (device: string) => string
  readonly #nowMs: () => number

  /** @param userOf maps a device to the user of its rig */
  constructor(recent: readonly FormerBlock[], userOf: (device: string) => string, nowMs: () => number) {
    this.#userOf = userOf
    this.#nowMs = nowMs
    for (const { device, foundAt, ...block } of recent)
      this.#set({ ...block, miner: device, foundAtMs: Date.parse(foundAt) })
  }

  get newest(): readonly PoolBlock[] {
    return [...this.#blocks.values()].reverse()
  }

  onEvent(event: MinerEvent): void {
    if (event.type === 'solution') this.#step(event)
    else if (event.type === 'reward') {
      const block = this.#blocks.get(event.hash)
      if (block !== undefined) this.#blocks.set(event.hash, { ...block, reward: event.amount })
    }
  }

  #step(event: SolutionEvent): void {
    const { hash, chain, height, effort, device, step } = event
    const known = this.#blocks.get(hash)
    if (known !== undefined) this.#blocks.set(hash, { ...known, state: step })
    else if (event.step === 'found') {
      const of = { hash, chain, height, effort, difficulty: event.difficulty, state: step, reward: null }
      this.#set({ ...of, miner: this.#userOf(device), foundAtMs: this.#nowMs() })
    }
  }

  #set(block: PoolBlock): void {
    this.#blocks.set(block.hash, block)
    const [oldest] = this.#blocks.keys()
    if (this.#blocks.size > MAX_BLOCKS) this.#blocks.delete(oldest)
  }
}
