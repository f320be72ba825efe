/** The address of a node: the host that answers there, the network to it, and the faults of both. */

import { networkOf, settingsOf } from '../../src/devnet/rules/settings.ts'
import type { GraphName } from '../../src/ground/chain/graph.ts'
import { diceOf } from './dice.ts'
import { EmbeddedNode } from './embedded-node.ts'
import type { PlannedFault } from './faults.ts'
import { type Host, Network, type NetworkHooks } from './network.ts'
import type { Report } from './report.ts'
import type { VirtualTime } from './virtual-time.ts'

/** Low enough to find solutions by hashing, and too high to solve work by chance. */
const DIFFICULTY = 8n

export interface SiteOptions {
  readonly seed: number
  /** Priority from 0, the highest. */
  readonly index: number
  readonly graph: GraphName
  readonly time: VirtualTime
  readonly report: Report
  readonly hooks: Omit<NetworkHooks, 'onTrace'>
}

export class Site {
  readonly index: number
  readonly hostname: string
  readonly url: string
  readonly node: EmbeddedNode
  readonly network: Network
  /** A node of another network at the same address, or null if there was none so far. */
  otherNode: EmbeddedNode | null = null
  /** Whether it exchanges no blocks with the other nodes. */
  isCutOff = false
  /** Since when nothing has been wrong with it, or null while something is. */
  wellSinceMs: number | null = 0
  readonly faults: PlannedFault[] = []
  /** Reorganisations in progress. */
  readonly #pending = new Set<Promise<unknown>>()
  readonly #options: SiteOptions
  /** Random numbers for its faults. */
  readonly #world: () => number
  #lasting = 0

  constructor(options: SiteOptions) {
    const { seed, index, graph, time, hooks } = options
    this.index = index
    this.#options = options
    this.#world = diceOf(seed, `world${this.#suffix}`)
    this.hostname = `node${this.#suffix}.simulated`
    this.url = `http://${this.hostname}:1848`
    this.node = this.#makeNode('development', graph)
    const onTrace = (what: string) => this.#trace(what)
    this.network = new Network(time, diceOf(seed, `network${this.#suffix}`), { onTrace, ...hooks })
    this.network.host = this.node
  }

  /** Whether blocks of other miners may arrive now. */
  get isAtRest(): boolean {
    return this.#pending.size === 0
  }

  /** Whether it can be reached, however badly. */
  get isThere(): boolean {
    return this.network.host === this.node && this.network.dialMode === 'fine'
  }

  /** Whether this host answers here now, or did earlier. */
  has(host: Host): boolean {
    return host === this.node || host === this.otherNode
  }

  plan(fault: PlannedFault): void {
    const { time } = this.#options
    const { name, fromMs, toMs, begin } = fault
    this.faults.push(fault)
    time.after(fromMs, () => {
      this.#trace(`begins: ${name}`)
      this.#lasting++
      this.wellSinceMs = null
      const end = begin(this.#faulty)
      time.after(toMs - fromMs, () => {
        this.#trace(`ends: ${name}`)
        end()
        if (--this.#lasting === 0) this.wellSinceMs = time.nowMs
      })
    })
  }

  stop(): void {
    this.node.stop()
    this.otherNode?.stop()
  }

  get #suffix(): string {
    return this.index === 0 ? '' : String(this.index + 1)
  }

  get #faulty() {
    return {
      time: this.#options.time,
      network: this.network,
      node: this.node,
      random: this.#world,
      otherNode: () => {
        this.otherNode ??= this.#makeNode(this.#world() < 0.5 ? 'development' : 'recap-development', 'pair')
        return this.otherNode
      },
      during: (work: Promise<unknown>) => {
        this.#pending.add(work)
        void work.then(
          () => this.#pending.delete(work),
          (error) => {
            throw error
          },
        )
      },
    }
  }

  #trace(what: string): void {
    this.#options.report.trace(this.index === 0 ? what : `node ${this.index + 1}: ${what}`)
  }

  #makeNode(name: string, graph: GraphName): EmbeddedNode {
    const settings = settingsOf({ graph, blockDelayMs: 2_000, difficulty: DIFFICULTY, pow: true, adjusts: false })
    const network = { ...networkOf(settings), name, code: name === 'development' ? 2 : 1 }
    // Random times; live nodes use 240 s.
    const updateStreamMs = this.#world() < 0.5 ? 240_000 : 3_000
    const { seed, time } = this.#options
    return new EmbeddedNode({ network, time, random: diceOf(seed, name + this.#suffix), updateStreamMs })
  }
}
