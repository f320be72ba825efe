/** Rules of a development network: the initial ones, and changes by hand. */
import { type ExpectedFields, expectedFieldsOf } from '#ground/chain/difficulty.ts'
import type { Header } from '#ground/chain/header.ts'
import type { Network } from '#ground/chain/network.ts'
import { MAX_TARGET } from '#ground/chain/target.ts'

/** A rule set by hand. It applies to the next block of each chain and all later ones. */
export interface RuleChange {
  /** Number of blocks, orphans included, when it was set: those were judged without it. */
  readonly blocks: number
  /** Number of blocks when it was undone: later ones are judged without it too. */
  readonly until?: number
  /** Chain -> first height with this rule. */
  readonly from: readonly number[]
  /** Target of the block at exactly that height; later targets follow from it. */
  readonly target?: bigint
  /** Microseconds. */
  readonly blockDelay?: bigint
}

export class RuleHistory {
  /** The network with its initial rules. */
  readonly genesis: Network
  readonly #changes: RuleChange[] = []

  constructor(genesis: Network, changes: readonly RuleChange[] = []) {
    this.genesis = genesis
    this.#changes.push(...changes)
  }

  get changes(): readonly RuleChange[] {
    return this.#changes
  }

  /** The network with its current rules. */
  get network(): Network {
    return this.#networkAt(0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
  }

  change(change: RuleChange): void {
    this.#changes.push(change)
  }

  /** Undoes all changes except the first `kept`. @param blocks current number of blocks */
  revert(kept: number, blocks: number): void {
    for (let i = kept; i < this.#changes.length; i++) {
      const change = this.#changes[i]
      if (change.until === undefined) this.#changes[i] = { ...change, until: blocks }
    }
  }

  /**
   * Target, epoch start and weight of the block on top of `parent` (core/difficulty.ts).
   * @param blocks number of blocks when it is added
   */
  expectedFor(
    parent: Header,
    adjacentParents: readonly Header[],
    creationTime: bigint,
    blocks = Number.POSITIVE_INFINITY,
  ): ExpectedFields {
    const { chainId } = parent
    const height = Number(parent.height) + 1
    const expected = expectedFieldsOf(this.#networkAt(chainId, height, blocks), parent, adjacentParents, creationTime)
    const target = this.#changes.findLast(
      (change) => change.target !== undefined && change.from[chainId] === height && holds(change, blocks),
    )?.target
    if (target === undefined) return expected
    return { ...expected, target, weight: BigInt.asUintN(256, parent.weight + MAX_TARGET / target) }
  }

  #networkAt(chain: number, height: number, blocks: number): Network {
    const blockDelay = this.#changes.findLast(
      (change) => change.blockDelay !== undefined && change.from[chain] <= height && holds(change, blocks),
    )?.blockDelay
    return blockDelay === undefined ? this.genesis : { ...this.genesis, blockDelay }
  }
}

/** Whether a change applies to the block that is added when there are this many. */
const holds = (change: RuleChange, blocks: number): boolean =>
  change.blocks <= blocks && (change.until === undefined || blocks < change.until)
