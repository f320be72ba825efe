/** Keeps the latest solutions of the miner: from events, and from the journal for earlier runs. */
import type { MinerEvent, SolutionEvent } from '#mining/mine/events.ts'
import type { ShownBlock } from './state.ts'

/** Limit of kept blocks, enough for the picture of the chains. */
const MAX_BLOCKS = 200

export class BlockLog {
  readonly #nowMs: () => number
  /** Hash -> block, oldest first. */
  readonly #blocks: Map<string, ShownBlock>
  readonly #changed = new Set<string>()

  /**
   * @param earlier solutions of earlier runs, oldest first
   * @param nowMs the wall clock
   */
  constructor(earlier: readonly ShownBlock[], nowMs: () => number) {
    this.#nowMs = nowMs
    this.#blocks = new Map(earlier.slice(-MAX_BLOCKS).map((block) => [block.hash, block]))
  }

  /** Receives every event of the miner. @returns whether it changed a block */
  onEvent(event: MinerEvent): boolean {
    if (event.type === 'reward') return this.#change(event.hash, { reward: event.amount })
    if (event.type !== 'solution') return false
    // Later steps of an unknown block belong to an evicted one.
    if (event.step === 'found' || event.step === 'handed-in') this.#add(event)
    return this.#change(event.hash, {
      state: event.step,
      depth: event.step === 'confirmed' ? event.depth : null,
      message: 'message' in event ? event.message : null,
    })
  }

  /** The blocks, newest first. */
  list(): ShownBlock[] {
    return [...this.#blocks.values()].toReversed().sort((a, b) => b.foundAtMs - a.foundAtMs)
  }

  /** The blocks that changed since the last call, oldest first. */
  takeChanged(): ShownBlock[] {
    const changed = [...this.#blocks.values()].filter(({ hash }) => this.#changed.has(hash))
    this.#changed.clear()
    return changed
  }

  #add({ hash, chain, height, device, effort, elapsedMs, step }: SolutionEvent): void {
    if (this.#blocks.has(hash)) return
    const foundAtMs = Math.round(this.#nowMs() - elapsedMs)
    const unknown = { depth: null, reward: null, message: null }
    this.#blocks.set(hash, { hash, chain, height, device, effort, foundAtMs, state: step, ...unknown })
    const [oldest] = this.#blocks.keys()
    if (this.#blocks.size > MAX_BLOCKS) this.#blocks.delete(oldest)
  }

  #change(hash: string, news: Partial<ShownBlock>): boolean {
    const block = this.#blocks.get(hash)
    // The block has been evicted.
    if (block === undefined) return false
    this.#blocks.set(hash, { ...block, ...news })
    this.#changed.add(hash)
    return true
  }
}
