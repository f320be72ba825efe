/** Nodes pass blocks to each other as peers do: with a delay, and not if one of them is cut off. */
import type { Site } from './site.ts'
import type { VirtualTime } from './virtual-time.ts'

const LEAST_MS = 20
const MOST_MS = 300

export class Gossip {
  readonly #sites: readonly Site[]
  readonly #time: VirtualTime
  readonly #random: () => number
  /** Pairs of nodes with a transfer of blocks pending. */
  readonly #under = new Set<string>()

  constructor(sites: readonly Site[], time: VirtualTime, random: () => number) {
    this.#sites = sites
    this.#time = time
    this.#random = random
  }

  /** A node has new blocks. */
  news(from: Site): void {
    for (const to of this.#sites) if (to !== from) this.#tell(from, to)
  }

  /** The nodes are connected again. */
  newsOfAll(): void {
    for (const site of this.#sites) this.news(site)
  }

  #tell(from: Site, to: Site): void {
    const pair = `${from.index} ${to.index}`
    if (this.#under.has(pair)) return
    this.#under.add(pair)
    this.#time.after(LEAST_MS + this.#random() * (MOST_MS - LEAST_MS), () => {
      this.#under.delete(pair)
      // No node may see half of a reorganisation.
      if (!from.isAtRest || !to.isAtRest) this.#tell(from, to)
      else if (!from.isCutOff && !to.isCutOff) to.node.takeFrom(from.node)
    })
  }
}
