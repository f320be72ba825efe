/** Blocks that the node makes itself, for testers: on its cut or on another one. */
import { type Cut, extensionOf } from '../../core/cut.ts'
import type { Header, WorkFields } from '../../core/header.ts'
import { graphAt, type Network } from '../../core/network.ts'
import type { MinerAccount } from '../../core/payload.ts'
import { difficultyOf } from '../../core/target.ts'
import { withPrefix } from '../../core/units.ts'
import { MADE_BLOCKS_LIMIT } from '../../schema/control.ts'
import type { Refusal } from '../refusal.ts'
import type { Addition, Chains } from '../rules/chains.ts'
import type { Payload } from '../store/payload.ts'
import type { Coordinator } from '../work/coordinator.ts'
import { SEARCH_LIMIT_HASHES, SearchBudget, Slices, searchNonce } from './solver.ts'

/** Whom the blocks of development networks pay when nobody is named: the ed25519 public key of the all-zero seed. */
export const DEVELOPMENT_KEY = '3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29'

export const developmentAccount: MinerAccount = {
  account: `k:${DEVELOPMENT_KEY}`,
  predicate: 'keys-all',
  publicKeys: [DEVELOPMENT_KEY],
}

export interface BlockMakerOptions {
  readonly chains: Chains
  readonly coordinator: Coordinator
  /** Who is paid. */
  readonly account: MinerAccount
  /** The payload of a block of `chain` that pays `account` on top of the parent with this hash. */
  readonly payloadFor: (account: MinerAccount, parentHash: Uint8Array, chain: number) => Payload
  /** Hears of every block. */
  readonly onMade?: (header: WorkFields, addition: Addition) => void
  /** Aborted when the node stops. */
  readonly signal: AbortSignal
}

/** An order that cannot be carried out, or not to its end; says how far it came. */
export class OrderRefused extends Error implements Refusal {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export class BlockMaker {
  readonly chains: Chains
  readonly coordinator: Coordinator
  readonly #options: BlockMakerOptions

  constructor(options: BlockMakerOptions) {
    this.chains = options.chains
    this.coordinator = options.coordinator
    this.#options = options
  }

  get slices(): Slices {
    return new Slices(this.#options.signal, () => this.chains.flushed())
  }

  /**
   * Makes each named chain grow by its count. Braiding: a chain at distance k must be at most k lower, so others may
   * have to grow first. Resolves with chain -> blocks made. Throws OrderRefused.
   */
  async make(counts: ReadonlyMap<number, number>): Promise<Map<number, number>> {
    const goals = this.#goals(counts)
    this.#checkGoals(goals)
    const made = new Map<number, number>()
    const budget = new SearchBudget()
    const slices = this.slices
    for (;;) {
      const chain = lowestBelow(goals, this.chains.cut)
      if (chain === null) return made
      const before = [...made.values()].reduce((sum, count) => sum + count, 0)
      const addition = await this.#makeOne(chain, { budget, slices, before })
      // Another miner may have been faster: the goal is a height, and nothing is made twice.
      if (addition.status === 'added') made.set(chain, (made.get(chain) ?? 0) + 1)
      else if (addition.status === 'invalid') throw new Error(`made a block that breaks ${addition.rules.join(', ')}`)
      await slices.pause()
    }
  }

  /** Makes a block of an open chain at once; only for networks without proof of work. */
  makeNow(chain: number): Addition {
    const { work, payload } = this.workOn(chain, this.chains.cut, this.#options.account)
    return this.#added(work, payload)
  }

  /** The target of the next block of an open chain. */
  nextTarget(chain: number): bigint {
    const { target } = this.workOn(chain, this.chains.cut, this.#options.account).work
    return target
  }

  /** Work on top of any cut on which the chain is not blocked. */
  workOn(chain: number, cut: Cut, account: MinerAccount): { work: WorkFields; payload: Payload } {
    const parent = cut.get(chain)
    if (parent === undefined) throw new Error(`the cut has no chain ${chain}`)
    const payload = this.#options.payloadFor(account, parent.hash, chain)
    const work = this.chains.newWork(chain, payload.payloadHash, cut)
    if (typeof work === 'number') throw new Error(`chain ${chain} waits for chain ${work}`)
    return { work, payload }
  }

  /** The work with a nonce that will do. `before`: blocks made until now, for the message. Throws OrderRefused. */
  async solved(work: WorkFields, { budget, slices, before }: Search): Promise<WorkFields> {
    if (!this.chains.checkPow) return work
    if (budget.take(work.target)) return searchNonce(work, slices)
    const difficulty = withPrefix(Number(difficultyOf(work.target) ?? Number.POSITIVE_INFINITY))
    const limit = withPrefix(SEARCH_LIMIT_HASHES)
    const place = `chain ${work.chainId} at height ${work.height}`
    throw new OrderRefused(
      409,
      `${before} blocks were made; ${place} has difficulty ${difficulty}, ` +
        `and one order searches ${limit} hashes at most. ` +
        'Set a lower difficulty (POST /devnet/difficulty), mine with newcut mine, or start the node with --no-pow',
    )
  }

  announce(header: WorkFields, addition: Addition): void {
    this.#options.onMade?.(header, addition)
  }

  async #makeOne(chain: number, search: Search): Promise<Addition> {
    const { work, payload } = this.workOn(chain, this.chains.cut, this.#options.account)
    return this.#added(await this.solved(work, search), payload)
  }

  #added(work: WorkFields, payload: Payload): Addition {
    const addition = this.chains.add(work, payload)
    this.announce(work, addition)
    return addition
  }

  /** Chain -> height that it must reach. */
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

  #checkGoals(goals: ReadonlyMap<number, number>): void {
    let total = 0
    for (const [chain, goal] of goals) {
      const growth = Math.max(0, goal - Number(headOf(this.chains.cut, chain).height))
      total += growth
      if (growth > 0 && this.coordinator.paused.has(chain)) {
        throw new OrderRefused(409, `chain ${chain} would have to grow by ${growth}, but it is paused`)
      }
    }
    if (total > MADE_BLOCKS_LIMIT) {
      const message = `${total} blocks with those on adjacent chains: at most ${MADE_BLOCKS_LIMIT} in one call`
      throw new OrderRefused(400, message)
    }
  }
}

interface Search {
  readonly budget: SearchBudget
  readonly slices: Slices
  readonly before: number
}

/** The lowest chain that is below its goal; it is never blocked, as what blocks it is lower and has a goal too. */
function lowestBelow(goals: ReadonlyMap<number, number>, cut: Cut): number | null {
  let lowest: { chain: number; height: number } | null = null
  for (const [chain, goal] of goals) {
    const height = Number(headOf(cut, chain).height)
    if (height < goal && (lowest === null || height < lowest.height)) lowest = { chain, height }
  }
  return lowest === null ? null : lowest.chain
}

/** Chain -> steps from `chain` to it in the graph. */
export function distancesFrom(network: Network, chain: number): Map<number, number> {
  const { adjacents } = graphAt(network, Number.POSITIVE_INFINITY)
  const distances = new Map([[chain, 0]])
  for (const [from, distance] of distances) {
    for (const to of adjacents[from]) if (!distances.has(to)) distances.set(to, distance + 1)
  }
  return distances
}

export function headOf(cut: Cut, chain: number): Header {
  const head = cut.get(chain)
  if (head === undefined) throw new OrderRefused(400, `there is no chain ${chain}: chains are 0 to ${cut.size - 1}`)
  return head
}

/** Chains that can get a block on top of this cut. */
export function unblocked(network: Network, cut: Cut): number[] {
  return [...cut.keys()].filter((chain) => typeof extensionOf(network, cut, chain) !== 'number')
}
