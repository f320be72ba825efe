/** Makes blocks on behalf of the node, on its cut or on another one. */

import { equalBytes } from '#ground/base/bytes.ts'
import type { Clock } from '#ground/base/clock.ts'
import { describeError } from '#ground/base/errors.ts'
import type { OnProgress } from '#ground/base/progress.ts'
import { type Cut, extensionOf } from '#ground/chain/cut.ts'
import { DEVELOPMENT_KEY } from '#ground/chain/development-accounts.ts'
import type { Header, WorkFields } from '#ground/chain/header.ts'
import { graphAt, type Network } from '#ground/chain/network.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import { MAX_MADE_BLOCKS } from '#ground/schema/control.ts'
import type { BlockMadeBy } from '#ground/schema/devnet-events.ts'
import { MissingEntry } from '#language/contracts/machine/state.ts'
import type { Addition, Chains } from '../rules/chains.ts'
import type { Block } from '../store/block-store.ts'
import { emptyPayload, type StoredPayload } from '../store/payload.ts'
import type { Coordinator } from '../work/coordinator.ts'
import { BlockRequest } from './block-request.ts'
import { ControlError } from './control-error.ts'
import type { NonceSearch } from './nonce-search.ts'

export const developmentAccount: MinerAccount = {
  account: `k:${DEVELOPMENT_KEY}`,
  predicate: 'keys-all',
  publicKeys: [DEVELOPMENT_KEY],
}

export interface BlockMakerOptions {
  readonly chains: Chains
  readonly coordinator: Coordinator
  /** Account that gets the rewards. */
  readonly account: MinerAccount
  /** Finds nonces on networks with proof of work. */
  readonly search: NonceSearch
  readonly clock: Clock
  /** Called with every block made. */
  readonly onMade?: (header: WorkFields, addition: Addition, by: BlockMadeBy) => void
  /** Called with the progress of long control requests. */
  readonly onNotice: (message: string, kind?: 'progress') => void
  readonly onProgress?: OnProgress | undefined
}

/** A block without a nonce. */
interface UnsolvedBlock {
  readonly work: WorkFields
  readonly payload: StoredPayload
}

/** Time for executing transactions in an automatic block; the others wait for the next block. */
const AUTO_BLOCK_EXECUTION_MS = 8

export class BlockMaker {
  readonly chains: Chains
  readonly coordinator: Coordinator
  readonly #options: BlockMakerOptions
  /** Chains whose next block waits for the forked network. */
  readonly #fetching = new Set<number>()

  constructor(options: BlockMakerOptions) {
    this.chains = options.chains
    this.coordinator = options.coordinator
    this.#options = options
  }

  /**
   * Runs an order.
   * @param blocks number of blocks that it makes; null if not known beforehand
   * @param signal aborted with ControlError
   */
  async run<T>(
    name: string,
    blocks: number | null,
    signal: AbortSignal,
    run: (request: BlockRequest) => Promise<T>,
  ): Promise<T> {
    const { search, clock, onNotice, onProgress } = this.#options
    const durable = () => this.chains.durable()
    const request = new BlockRequest({ name, signal, durable, search, clock, onNotice, onProgress }, blocks)
    try {
      signal.throwIfAborted()
      return await run(request)
    } finally {
      request.end()
    }
  }

  /**
   * Adds blocks to each named chain. Braiding allows a chain at distance k to be at most k lower, so other chains may
   * have to grow too.
   * @returns chain -> blocks made, in ascending order
   * @throws ControlError; blocks made before stay
   */
  make(
    counts: ReadonlyMap<number, number>,
    signal: AbortSignal,
    by: BlockMadeBy = 'order',
  ): Promise<Map<number, Block[]>> {
    const goals = this.#goals(counts)
    return this.run('make-blocks', this.#checkedTotal(goals), signal, async (request) => {
      const made = new Map<number, Block[]>()
      for (;;) {
        const chain = lowestBelow(goals, this.chains.cut)
        if (chain === null) return made
        const addition = await this.#makeOne(chain, request, by)
        // The goal is a height: a block of another miner counts too.
        if (addition?.status === 'added') {
          const blocks = made.get(chain)
          if (blocks === undefined) made.set(chain, [addition.block])
          else blocks.push(addition.block)
          request.made++
        } else if (addition?.status === 'invalid') {
          throw new Error(`made a block that breaks ${addition.rules.join(', ')}`)
        }
        await request.pause()
      }
    })
  }

  /**
   * Automatic mining: makes a block of an open chain at once. Only for networks without proof of work.
   * @returns null while the reward reads something of a forked network that is not fetched yet
   */
  makeNow(chain: number): Addition | null {
    const live = this.#draftNow(chain)
    if (live === null) return null
    this.coordinator.drafts.extend(live, AUTO_BLOCK_EXECUTION_MS)
    return this.#addSolved(this.#buildUnsolved(chain, this.coordinator.drafts.payload(live)), 'auto-mine')
  }

  /** Target of the next block of an open chain. */
  nextTarget(chain: number): bigint {
    return this.#work(chain, emptyPayload.payloadHash, this.chains.cut).target
  }

  /** Builds a block without transactions on top of any cut that does not block the chain. */
  emptyOn(chain: number, cut: Cut, account: MinerAccount): UnsolvedBlock {
    const { ledger } = this.coordinator
    const parent = headOf(cut, chain)
    return this.#buildUnsolved(chain, ledger.payloadOf(ledger.begin(parent, account), parent), cut)
  }

  /** @returns the work with a nonce that the network accepts. @throws ControlError */
  async solve(work: WorkFields, request: BlockRequest): Promise<WorkFields> {
    return this.chains.checkPow ? request.solve(work) : work
  }

  announce(header: WorkFields, addition: Addition, by: BlockMadeBy): void {
    this.#options.onMade?.(header, addition, by)
  }

  /** Draft of the next block on the cut, which pays the account of the node. */
  #draft(chain: number) {
    return this.coordinator.drafts.draftOf(chain, this.#options.account)
  }

  /** Like #draft, once what the reward reads of a forked network is there. */
  #draftComplete(chain: number) {
    return this.coordinator.runComplete(() => this.#draft(chain), this.#options.account)
  }

  /** Like #draft, or null while it is fetched. A data directory may continue without the node that it forked. */
  #draftNow(chain: number) {
    try {
      return this.#draft(chain)
    } catch (error) {
      if (!(error instanceof MissingEntry)) throw error
      if (!this.#fetching.has(chain)) void this.#fetch(chain)
      return null
    }
  }

  async #fetch(chain: number): Promise<void> {
    this.#fetching.add(chain)
    try {
      await this.#draftComplete(chain)
    } catch (error) {
      this.#options.onNotice(`chain ${chain} has no new block: ${describeError(error)}`)
    } finally {
      this.#fetching.delete(chain)
    }
  }

  #buildUnsolved(chain: number, payload: StoredPayload, cut: Cut = this.chains.cut): UnsolvedBlock {
    return { work: this.#work(chain, payload.payloadHash, cut), payload }
  }

  #work(chain: number, payloadHash: Uint8Array, cut: Cut): WorkFields {
    const work = this.chains.newWork(chain, payloadHash, cut)
    if ('blockedBy' in work) throw new Error(`chain ${chain} waits for chain ${work.blockedBy}`)
    return work
  }

  /**
   * @returns null if a control request or a miner was faster: the chain has another head, or waits for another chain
   */
  async #makeOne(chain: number, request: BlockRequest, by: BlockMadeBy): Promise<Addition | null> {
    const { drafts } = this.coordinator
    const head = headOf(this.chains.cut, chain)
    let live = await this.#draftComplete(chain)
    for (;;) {
      if (!equalBytes(headOf(this.chains.cut, chain).hash, head.hash)) return null
      const extended = drafts.extend(live)
      if (extended === 'done') break
      await (extended === 'waiting' ? request.until(drafts.whenDone()) : request.pause())
      live = await this.#draftComplete(chain)
    }
    const payload = drafts.payload(live)
    const work = this.chains.newWork(chain, payload.payloadHash, this.chains.cut)
    if ('blockedBy' in work) return null
    return this.#addSolved({ work: await this.solve(work, request), payload }, by)
  }

  #addSolved({ work, payload }: UnsolvedBlock, by: BlockMadeBy): Addition {
    const addition = this.chains.add(work, payload)
    this.announce(work, addition, by)
    return addition
  }

  /** Chain -> height to reach. */
  #goals(counts: ReadonlyMap<number, number>): Map<number, number> {
    const { cut, network } = this.chains
    const goals = new Map<number, number>()
    for (const [chain, count] of counts) {
      if (count === 0) continue
      const goal = Number(headOf(cut, chain).height) + count
      for (const [other, distance] of distancesFrom(network, chain)) {
        goals.set(other, Math.max(goals.get(other) ?? 0, goal - distance))
      }
    }
    return goals
  }

  /** @returns the number of blocks needed to reach these heights. @throws ControlError if they are out of reach */
  #checkedTotal(goals: ReadonlyMap<number, number>): number {
    let total = 0
    for (const [chain, goal] of goals) {
      const blocks = Math.max(0, goal - Number(headOf(this.chains.cut, chain).height))
      total += blocks
      if (blocks > 0 && this.coordinator.paused.has(chain)) {
        throw new ControlError({ kind: 'paused-chain-grows', chain, blocks })
      }
    }
    if (total > MAX_MADE_BLOCKS) throw new ControlError({ kind: 'too-many-blocks', blocks: total })
    return total
  }
}

/** The lowest chain below its goal. It is never blocked: a chain that blocks it would be lower and have a goal too. */
function lowestBelow(goals: ReadonlyMap<number, number>, cut: Cut): number | null {
  let lowest: { chain: number; height: number } | null = null
  for (const [chain, goal] of goals) {
    const height = Number(headOf(cut, chain).height)
    if (height < goal && (lowest === null || height < lowest.height)) lowest = { chain, height }
  }
  return lowest === null ? null : lowest.chain
}

/** Chain -> its distance from `chain` in the graph. */
export function distancesFrom(network: Network, chain: number): Map<number, number> {
  const { adjacents } = graphAt(network, Number.POSITIVE_INFINITY)
  const distances = new Map([[chain, 0]])
  for (const [from, distance] of distances) {
    for (const to of adjacents[from]) if (!distances.has(to)) distances.set(to, distance + 1)
  }
  return distances
}

/** @throws ControlError if there is no such chain */
export function headOf(cut: Cut, chain: number): Header {
  const head = cut.get(chain)
  if (head === undefined) throw new ControlError({ kind: 'unknown-chain', chain, chains: cut.size })
  return head
}

/** Chains that can get a block on top of this cut. */
export function unblockedChainsOf(network: Network, cut: Cut): number[] {
  return [...cut.keys()].filter((chain) => typeof extensionOf(network, cut, chain) !== 'number')
}
