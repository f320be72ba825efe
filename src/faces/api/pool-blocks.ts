/** Keeps the newest blocks of a miner for pool dashboards, each with the account that payouts count it for. */

import type { StepName } from '#ground/chain/solution.ts'
import type { ShareReader } from '#mining/accounts/share-store.ts'
import { payeeOfUser } from '#mining/accounts/user-account.ts'
import type { MinerEvent, SolutionEvent } from '#mining/mine/events.ts'

export const MAX_BLOCKS = 100
/** The share of a block enters the log this long before or after the block is noticed. */
const EARLIER_MS = 1_000
const LATER_MS = 600_000

/** A block of an earlier run, from the journal. */
export interface PreviousRunBlock {
  readonly hash: string
  readonly chain: number
  readonly height: number
  readonly difficulty: number
  readonly state: StepName
  readonly effort: number
  /** Coins as a decimal number, or null if unknown. */
  readonly reward: string | null
  readonly device: string
  readonly foundAt: string
}

export interface PoolBlock extends Omit<PreviousRunBlock, 'device' | 'foundAt'> {
  /** Account of the rig's user, or the device while no account is known. */
  readonly miner: string
  readonly foundAtMs: number
}

export interface PoolBlocksOptions {
  /** Blocks of earlier runs, oldest first. */
  readonly recent: readonly PreviousRunBlock[]
  /** Maps a device to the user of its rig; empty or undefined if it has none. */
  readonly userOf: (device: string) => string | undefined
  /** The share log, which knows the user of a block after a restart; null without one. */
  readonly shares: Pick<ShareReader, 'shares'> | null
  /** Unix time in milliseconds. */
  readonly nowMs: () => number
}

export class PoolBlocks {
  /** Hash -> block, oldest first. */
  readonly #blocks = new Map<string, PoolBlock>()
  readonly #options: PoolBlocksOptions
  /** Hashes of blocks whose user is not known yet. */
  readonly #unnamed = new Set<string>()
  #naming: Promise<void> | null = null

  constructor(options: PoolBlocksOptions) {
    this.#options = options
    for (const { device, foundAt, ...block } of options.recent)
      this.#set({ ...block, miner: device, foundAtMs: Date.parse(foundAt) }, false)
  }

  get newest(): readonly PoolBlock[] {
    return [...this.#blocks.values()].reverse()
  }

  /** The newest blocks, after a look into the share log for users that are not known yet. */
  async withUsers(): Promise<readonly PoolBlock[]> {
    this.#naming ??= this.#findUsers().finally(() => {
      this.#naming = null
    })
    await this.#naming
    return this.newest
  }

  onEvent(event: MinerEvent): void {
    if (event.type === 'solution') this.#step(event)
    else if (event.type === 'reward') {
      const block = this.#blocks.get(event.hash)
      if (block !== undefined) this.#blocks.set(event.hash, { ...block, reward: event.amount })
    }
  }

  #step(event: SolutionEvent): void {
    const { hash, chain, height, effort, device, step } = event
    const known = this.#blocks.get(hash)
    if (known !== undefined) this.#blocks.set(hash, { ...known, state: step })
    else if (event.step === 'found') {
      const { userOf, nowMs } = this.#options
      const user = userOf(device) ?? ''
      const of = { hash, chain, height, effort, difficulty: event.difficulty, state: step, reward: null }
      this.#set({ ...of, miner: user === '' ? device : payeeOfUser(user), foundAtMs: nowMs() }, user !== '')
    }
  }

  #set(block: PoolBlock, isNamed: boolean): void {
    const { hash } = block
    this.#blocks.set(hash, block)
    if (!isNamed) this.#unnamed.add(hash)
    const [oldest] = this.#blocks.keys()
    if (this.#blocks.size <= MAX_BLOCKS) return
    this.#blocks.delete(oldest)
    this.#unnamed.delete(oldest)
  }

  /** A share log that cannot be read is tried again at the next request. */
  async #findUsers(): Promise<void> {
    const { shares, nowMs } = this.#options
    if (shares === null) return
    for (const hash of [...this.#unnamed]) {
      const foundAtMs = this.#blocks.get(hash)?.foundAtMs ?? 0
      const user = await userIn(shares, hash, foundAtMs).catch(() => undefined)
      const block = this.#blocks.get(hash)
      if (user === undefined || block === undefined) continue
      if (user !== null) this.#blocks.set(hash, { ...block, miner: payeeOfUser(user) })
      if (user !== null || nowMs() > foundAtMs + LATER_MS) this.#unnamed.delete(hash)
    }
  }
}

/** The user whose share is this block, or null if the log has no such share around this time. */
async function userIn(log: Pick<ShareReader, 'shares'>, hash: string, foundAtMs: number): Promise<string | null> {
  const range = { fromMs: foundAtMs - EARLIER_MS, untilMs: foundAtMs + LATER_MS }
  for await (const { block, user } of log.shares(range)) if (block === hash) return user
  return null
}
