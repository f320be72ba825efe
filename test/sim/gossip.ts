/** Blocks go from node to node, as between peers: some time after a node has them, unless one is cut off. */
import type { Site } from './site.ts'
import type { VirtualTime } from './virtual-time.ts'

const LEAST_MS = 20
const MOST_MS = 300

export class Gossip {
  readonly #sites: readonly Site[]
  readonly #time: VirtualTime
  readonly #random: () => number
  /** Pairs of which one is about to get the blocks of the other. */
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

  /** Nodes hear of each other again. */
  newsOfAll(): void {
    for (const site of this.#sites) this.news(site)
  }

  #tell(from: Site, to: Site): void {
    const pair = `${from.index} ${to.index}`
    if (this.#under.has(pair)) return
    this.#under.add(pair)
    this.#time.after(LEAST_MS + this.#random() * (MOST_MS - LEAST_MS), () => {
      this.#under.delete(pair)
      // A reorganisation is not to be seen halfway.
      if (!from.isAtRest || !to.isAtRest) this.#tell(from, to)
      else if (!from.isCutOff && !to.isCutOff) to.node.takeFrom(from.node)
    })
  }
}
