/** The last solutions of the miner, from its events; those of earlier runs come from its journal. */
import type { MinerEvent, SolutionEvent } from '../../mine/events.ts'
import type { ShownBlock } from './state.ts'

/** Most blocks that are kept: those that a picture of the chains may have. */
const MAX_BLOCKS = 200

export class BlockLog {
  readonly #nowMs: () => number
  /** By hash, oldest first. */
  readonly #blocks: Map<string, ShownBlock>
  readonly #changed = new Set<string>()

  /** `earlier`: solutions of earlier runs, oldest first. `nowMs`: the wall clock. */
  constructor(earlier: readonly ShownBlock[], nowMs: () => number) {
    this.#nowMs = nowMs
    this.#blocks = new Map(earlier.slice(-MAX_BLOCKS).map((block) => [block.hash, block]))
  }

  /** Takes every event of the miner. Whether it was news of a block. */
  onEvent(event: MinerEvent): boolean {
    if (event.type === 'reward') return this.#change(event.hash, { reward: event.amount })
    if (event.type !== 'solution') return false
    // Later steps of one that is not kept are of one that is no longer kept.
    if (event.step === 'found' || event.step === 'handed-in') this.#add(event)
    return this.#change(event.hash, {
      state: event.step,
      depth: event.step === 'confirmed' ? event.depth : null,
      message: 'message' in event ? event.message : null,
    })
  }

  /** Newest first. */
  list(): ShownBlock[] {
    return [...this.#blocks.values()].toReversed().sort((a, b) => b.foundAtMs - a.foundAtMs)
  }

  /** Those with news since the last call, oldest first. */
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
    // News of a block that is no longer among the last.
    if (block === undefined) return false
    this.#blocks.set(hash, { ...block, ...news })
    this.#changed.add(hash)
    return true
  }
}
