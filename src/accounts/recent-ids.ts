/** The ids of the newest shares in bounded memory. The older half is evicted at once. */

/** Ids in each half. */
export const MAX_RECENT = 65_536

export class RecentIds {
  readonly #max: number
  #newer = new Set<string>()
  #older = new Set<string>()

  constructor(max = MAX_RECENT) {
    this.#max = max
  }

  has(id: string): boolean {
    return this.#newer.has(id) || this.#older.has(id)
  }

  add(id: string): void {
    this.#newer.add(id)
    if (this.#newer.size < this.#max) return
    this.#older = this.#newer
    this.#newer = new Set()
  }
}
