/** Sums of own blocks that the chain paid, in this run and in all runs of the journal. */
import { exactText, exactUnits } from '#ground/base/coins.ts'
import { isLostVerdict, type StepName, type Verdict, verdictOf } from '#ground/chain/solution.ts'
import type { MinerEvent } from './events.ts'
import { type EarningsSnapshot, type LossAndFees, type PaidSum, type Price, unknownFractions } from './profit.ts'

/** A solution as a journal has it. */
export interface OwnBlock {
  readonly hash: string
  readonly state: StepName
  /** Coins, or null if unknown. */
  readonly reward: string | null
  /** Coins, or null if unknown. */
  readonly fees: string | null
}

/** Sums of solutions. Coins are exact, in units of 10^-20. */
export interface OwnBlockSums {
  /** Accepted solutions with a known reward. */
  readonly paid: { readonly blocks: number; readonly rewards: bigint; readonly fees: bigint }
  /** Accepted solutions with an unknown reward. */
  readonly unknown: number
  readonly lost: number
}

/** Maximum number of blocks that may still change, which bounds the memory. Older ones are deep in their chains; their sums stay. */
const MAX_BLOCKS = 10_000
/** The latest settled blocks, which the two fractions come from. */
const SHARE_BLOCKS = 100
/** With fewer blocks, a fraction would be chance. */
const MIN_SHARE_BLOCKS = 20

interface TrackedBlock {
  readonly verdict: Verdict | null
  readonly reward: bigint | null
  readonly fees: bigint | null
  readonly isOfRun: boolean
}

const UNSEEN: TrackedBlock = { verdict: null, reward: null, fees: null, isOfRun: true }

class PaidCounter {
  blocks = 0
  coins = 0n
  fees = 0n

  add({ verdict, reward, fees }: TrackedBlock, sign: 1 | -1): void {
    if (verdict !== 'accepted' || reward === null) return
    const big = BigInt(sign)
    this.blocks += sign
    this.coins += big * (reward + (fees ?? 0n))
    this.fees += big * (fees ?? 0n)
  }

  snapshot(): PaidSum {
    return { blocks: this.blocks, coins: exactText(this.coins), fees: exactText(this.fees) }
  }
}

const isLost = ({ verdict }: TrackedBlock) => isLostVerdict(verdict)
const isUnknown = ({ verdict, reward }: TrackedBlock) => verdict === 'accepted' && reward === null

export class Earnings {
  /** Hash -> block, oldest first. */
  readonly #blocks = new Map<string, TrackedBlock>()
  readonly #run = new PaidCounter()
  readonly #total = new PaidCounter()
  #unknown = 0
  #lost = 0
  /** The fractions, or null after a change. */
  #lossAndFees: LossAndFees | null = null

  /** Adds a block of an earlier run, oldest first. A block that is known already stays as it is. */
  seed({ hash, state, reward, fees }: OwnBlock): void {
    if (this.#blocks.has(hash)) return
    const units = (amount: string | null) => (amount === null ? null : exactUnits(amount))
    const verdict = verdictOf(state)
    this.#set(hash, { verdict, reward: units(reward), fees: units(fees), isOfRun: false })
  }

  /** Adds sums of earlier runs, whose solutions no event changes. */
  seedSums({ paid, unknown, lost }: OwnBlockSums): void {
    this.#total.blocks += paid.blocks
    this.#total.coins += paid.rewards + paid.fees
    this.#total.fees += paid.fees
    this.#unknown += unknown
    this.#lost += lost
  }

  /** Receives every event of the miner. */
  onEvent(event: MinerEvent): void {
    if (event.type === 'reward') {
      const { hash, amount, fees } = event
      this.#change(hash, { reward: exactUnits(amount), fees: fees === undefined ? null : exactUnits(fees) })
    } else if (event.type === 'solution') {
      this.#change(event.hash, { verdict: verdictOf(event.step) })
    }
  }

  /** @param price of a coin */
  snapshot(price?: Price): EarningsSnapshot {
    const run = this.#run.snapshot()
    const total = this.#total.snapshot()
    const value = price === undefined ? null : Number(total.coins) * price.amount
    const currency = price?.currency ?? null
    return { run, total, unknownBlocks: this.#unknown, lostBlocks: this.#lost, value, currency }
  }

  /** Shares of the latest settled blocks. */
  lossAndFees(): LossAndFees {
    this.#lossAndFees ??= lossAndFeesOf([...this.#blocks.values()])
    return this.#lossAndFees
  }

  #change(hash: string, news: Partial<TrackedBlock>): void {
    this.#set(hash, { ...(this.#blocks.get(hash) ?? UNSEEN), ...news })
  }

  #set(hash: string, block: TrackedBlock): void {
    const before = this.#blocks.get(hash)
    if (before !== undefined) this.#count(before, -1)
    this.#count(block, 1)
    this.#blocks.set(hash, block)
    this.#lossAndFees = null
    const [oldest] = this.#blocks.keys()
    if (this.#blocks.size > MAX_BLOCKS) this.#blocks.delete(oldest)
  }

  #count(block: TrackedBlock, sign: 1 | -1): void {
    this.#total.add(block, sign)
    if (block.isOfRun) this.#run.add(block, sign)
    if (isLost(block)) this.#lost += sign
    if (isUnknown(block)) this.#unknown += sign
  }
}

function lossAndFeesOf(blocks: readonly TrackedBlock[]): LossAndFees {
  const settled = blocks.filter((block) => block.verdict === 'accepted' || isLost(block)).slice(-SHARE_BLOCKS)
  if (settled.length < MIN_SHARE_BLOCKS) return unknownFractions
  const lostFraction = settled.filter(isLost).length / settled.length
  let known = 0
  let rewards = 0n
  let fees = 0n
  for (const block of settled) {
    if (block.verdict !== 'accepted' || block.reward === null || block.fees === null) continue
    known++
    rewards += block.reward
    fees += block.fees
  }
  const isEnough = known >= MIN_SHARE_BLOCKS && rewards > 0n
  return { lostShare: lostFraction, feeShare: isEnough ? Number(fees) / Number(rewards) : null }
}
