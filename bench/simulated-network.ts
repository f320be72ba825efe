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
const FIRST_SHARE = CHAINS.length / BLOCK_DELAY_MS
/** Number of recent heights per chain with a known end. */
const DEATHS = 64

interface Block {
  readonly atMs: number
  readonly epochStartMs: number
  /** Share of hashes that meet its target. */
  readonly share: number
}

/** The chains that other miners extend. */
export class Network {
  nowMs = 0
  readonly heights: number[] = CHAINS.map(() => 0)
  /** Time over which the mean share was taken. */
  meanShareMs = 0
  readonly #heads: Block[] = CHAINS.map(() => ({ atMs: 0, epochStartMs: 0, share: FIRST_SHARE }))
  readonly #parents: Block[] = [...this.#heads]
  /** Distribution of the other miners; the sum is 1. */
  readonly #miners: number[] = CHAINS.map(() => 1 / CHAINS.length)
  /** When work of a chain and height became useless. */
  readonly #deaths = CHAINS.map(() => new Float64Array(DEATHS).fill(Number.POSITIVE_INFINITY))
  readonly #queue: { readonly atMs: number; readonly run: () => void }[] = []
  /** Time since when each chain is minable. */
  readonly openSinceMs: number[] = CHAINS.map(() => 0)
  readonly listeners: ((chain: number) => void)[] = []
  /** Whether other miners stay on their chain until it advances. */
  readonly stays: boolean

  constructor(stays: boolean) {
    this.stays = stays
  }

  /** Runs at that time, before later blocks. */
  at(atMs: number, run: () => void): void {
    let index = this.#queue.length
    while (index > 0 && this.#queue[index - 1].atMs > atMs) index--
    this.#queue.splice(index, 0, { atMs, run })
  }

  run(durationMs: number): void {
    const endMs = this.nowMs + durationMs
    while (this.nowMs < endMs) {
      let rate = 0
      for (const chain of CHAINS) if (this.isOpen(chain)) rate += this.#miners[chain] * this.fractionOf(chain)
      const nextMs = this.nowMs - Math.log(1 - Math.random()) / rate
      this.pass(Math.min(nextMs, endMs))
      if (nextMs < endMs) this.extend(this.#drawChain(rate))
    }
  }

  /** Advances time without blocks. */
  pass(untilMs: number): void {
    let sum = 0
    for (const chain of CHAINS) sum += this.#heads[chain].share
    this.meanShareMs += (sum / CHAINS.length) * (untilMs - this.nowMs)
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
      left -= this.#miners[chain] * this.fractionOf(chain)
      if (left < 0) break
    }
    return drawn
  }

  /** Adds a block of this minable chain. */
  extend(chain: number): void {
    const share = this.fractionOf(chain)
    const parent = this.#heads[chain]
    const height = ++this.heights[chain]
    const epochStartMs = height % WINDOW === 0 ? parent.atMs : parent.epochStartMs
    this.#parents[chain] = parent
    this.#heads[chain] = { atMs: this.nowMs, epochStartMs, share }
    this.#deaths[chain][height % DEATHS] = this.nowMs
    this.#deaths[chain][(height + 1) % DEATHS] = Number.POSITIVE_INFINITY
    const open = CHAINS.filter((other) => this.isOpen(other))
    const moving = this.stays ? this.#miners[chain] : 1
    if (this.stays) this.#miners[chain] = 0
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

  /** The share of hashes that solve the chain's next block. */
  fractionOf(chain: number): number {
    const head = this.#heads[chain]
    const height = this.heights[chain]
    if ((height + 1) % WINDOW !== 0) return head.share
    const before = adjacents[chain].map((other) => (this.heights[other] > height ? this.#parents : this.#heads)[other])
    const shares = [head, ...before].map(({ atMs, epochStartMs, share }) => {
      return ((atMs - epochStartMs) * share) / (WINDOW * BLOCK_DELAY_MS)
    })
    return shares.reduce((sum, share) => sum + share, 0) / shares.length
  }

  /** When work of this chain and height became useless; for recent work only. */
  deathOf(chain: number, height: number): number {
    return this.#deaths[chain][height % DEATHS]
  }
}
