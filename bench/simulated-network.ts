/**
 * A live network in virtual time: 20 chains, 30 s a block, epochs of 120 blocks by PROTOCOL.md C, and chains that wait
 * for their neighbours. Other miners extend it; their hashes per millisecond are the unit.
 */
import { graphs } from '../src/ground/chain/graph.ts'

export const BLOCK_DELAY_MS = 30_000
const WINDOW = 120
export const { adjacents } = graphs.twenty
export const CHAINS = adjacents.map((_, chain) => chain)
/** Unit of hashes: those of all other miners in 1 ms. */
const FIRST_PROBABILITY = CHAINS.length / BLOCK_DELAY_MS
/** Recent heights per chain for which the end of their work is known. */
const KNOWN_ENDS = 64

interface Block {
  readonly atMs: number
  readonly epochStartMs: number
  /** Probability that a hash meets its target. */
  readonly probability: number
}

/** The chains that other miners extend. */
export class Network {
  nowMs = 0
  readonly heights: number[] = CHAINS.map(() => 0)
  /** Integral over time of the mean probability of all heads, in milliseconds. */
  meanProbabilityMs = 0
  readonly #heads: Block[] = CHAINS.map(() => ({ atMs: 0, epochStartMs: 0, probability: FIRST_PROBABILITY }))
  readonly #parents: Block[] = [...this.#heads]
  /** Fraction of the other miners on each chain; the sum is 1. */
  readonly #miners: number[] = CHAINS.map(() => 1 / CHAINS.length)
  /** When work of a chain and height became useless. */
  readonly #ends = CHAINS.map(() => new Float64Array(KNOWN_ENDS).fill(Number.POSITIVE_INFINITY))
  readonly #queue: { readonly atMs: number; readonly run: () => void }[] = []
  /** Chain -> the time from which it can be mined. */
  readonly openSinceMs: number[] = CHAINS.map(() => 0)
  readonly listeners: ((chain: number) => void)[] = []
  /** Whether other miners stay on their chain until it advances. */
  readonly staysOnChain: boolean

  constructor(staysOnChain: boolean) {
    this.staysOnChain = staysOnChain
  }

  /** Schedules a call at that time, before later blocks. */
  at(atMs: number, run: () => void): void {
    let index = this.#queue.length
    while (index > 0 && this.#queue[index - 1].atMs > atMs) index--
    this.#queue.splice(index, 0, { atMs, run })
  }

  run(durationMs: number): void {
    const endMs = this.nowMs + durationMs
    while (this.nowMs < endMs) {
      let rate = 0
      for (const chain of CHAINS) if (this.isOpen(chain)) rate += this.#miners[chain] * this.probabilityOf(chain)
      const nextMs = this.nowMs - Math.log(1 - Math.random()) / rate
      this.pass(Math.min(nextMs, endMs))
      if (nextMs < endMs) this.extend(this.#drawChain(rate))
    }
  }

  /** Advances time without blocks. */
  pass(untilMs: number): void {
    let sum = 0
    for (const chain of CHAINS) sum += this.#heads[chain].probability
    this.meanProbabilityMs += (sum / CHAINS.length) * (untilMs - this.nowMs)
    while (this.#queue.length > 0 && this.#queue[0].atMs <= untilMs) {
      const next = this.#queue.shift()
      this.nowMs = Math.max(this.nowMs, next?.atMs ?? 0)
      next?.run()
    }
    this.nowMs = untilMs
  }

  #drawChain(rate: number): number {
    let left = Math.random() * rate
    let drawn = 0
    for (const chain of CHAINS) {
      if (!this.isOpen(chain)) continue
      drawn = chain
      left -= this.#miners[chain] * this.probabilityOf(chain)
      if (left < 0) break
    }
    return drawn
  }

  /** Adds a block of this minable chain. */
  extend(chain: number): void {
    const probability = this.probabilityOf(chain)
    const parent = this.#heads[chain]
    const height = ++this.heights[chain]
    const epochStartMs = height % WINDOW === 0 ? parent.atMs : parent.epochStartMs
    this.#parents[chain] = parent
    this.#heads[chain] = { atMs: this.nowMs, epochStartMs, probability }
    this.#ends[chain][height % KNOWN_ENDS] = this.nowMs
    this.#ends[chain][(height + 1) % KNOWN_ENDS] = Number.POSITIVE_INFINITY
    const open = CHAINS.filter((other) => this.isOpen(other))
    const moving = this.staysOnChain ? this.#miners[chain] : 1
    if (this.staysOnChain) this.#miners[chain] = 0
    else this.#miners.fill(0)
    for (const other of open) this.#miners[other] += moving / open.length
    const news = [chain, ...adjacents[chain].filter((other) => this.isOpen(other) && this.heights[other] === height)]
    for (const moved of news) this.openSinceMs[moved] = this.nowMs
    for (const listener of this.listeners) for (const moved of news) listener(moved)
  }

  isOpen(chain: number): boolean {
    const height = this.heights[chain]
    return adjacents[chain].every((adjacent) => this.heights[adjacent] >= height)
  }

  /** The probability that a hash solves the chain's next block. */
  probabilityOf(chain: number): number {
    const head = this.#heads[chain]
    const height = this.heights[chain]
    if ((height + 1) % WINDOW !== 0) return head.probability
    const before = adjacents[chain].map((other) => (this.heights[other] > height ? this.#parents : this.#heads)[other])
    const probabilities = [head, ...before].map(({ atMs, epochStartMs, probability }) => {
      return ((atMs - epochStartMs) * probability) / (WINDOW * BLOCK_DELAY_MS)
    })
    return probabilities.reduce((sum, probability) => sum + probability, 0) / probabilities.length
  }

  /** When work of this chain and height became useless; for recent work only. */
  endMsOf(chain: number, height: number): number {
    return this.#ends[chain][height % KNOWN_ENDS]
  }
}
