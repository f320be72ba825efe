/** Reorganisations by order: another branch that weighs more, from a cut some blocks back. */
import { encodeBase64Url } from '../../core/bytes.ts'
import { type Cut, cutWeight } from '../../core/cut.ts'
import type { Header } from '../../core/header.ts'
import type { MinerAccount } from '../../core/payload.ts'
import type { Chains } from '../rules/chains.ts'
import { type BlockMaker, distancesFrom, headOf, OrderRefused, unblocked } from './block-maker.ts'
import { SearchBudget } from './solver.ts'

/** Most blocks of the new branch: more are needed only when other miners keep making the old one heavier. */
const BRANCH_BLOCKS_LIMIT = 50_000
/** Pays somebody else, so that both branches differ even if they are equally old. */
const forkAccount: MinerAccount = { account: 'fork', predicate: 'keys-all', publicKeys: [] }

export interface Fork {
  /** The cut that both branches share. */
  readonly ancestor: Cut
  /** Chain -> hashes (base64url), ascending; of chains that lost or got blocks. */
  readonly orphaned: ReadonlyMap<number, readonly string[]>
  readonly added: ReadonlyMap<number, readonly string[]>
}

/**
 * Rolls back to the cut in which `chain` is `depth` blocks lower, and the others only as far as braiding wants it (a
 * chain at distance k keeps at most k more), and makes other blocks until they weigh more. Throws OrderRefused.
 */
export async function fork(maker: BlockMaker, chain: number, depth: number): Promise<Fork> {
  const { chains } = maker
  const ancestor = ancestorCut(maker, chain, depth)
  const branch = new Map(ancestor)
  const budget = new SearchBudget()
  const { slices } = maker
  for (let before = 0; cutWeight(branch) <= cutWeight(chains.cut); before++) {
    if (before === BRANCH_BLOCKS_LIMIT) {
      throw new OrderRefused(409, `${before} blocks do not outweigh the present branch: it grows too fast`)
    }
    const next = nextChain(maker, branch, ancestor)
    const { work, payload } = maker.workOn(next, branch, forkAccount)
    const addition = chains.insert(await maker.solved(work, { budget, slices, before }), payload)
    if (addition.status !== 'added') throw new Error(`chain ${next} of the fork: ${JSON.stringify(addition)}`)
    branch.set(next, addition.block.header)
    maker.announce(addition.block.header, addition)
    await slices.pause()
  }
  const orphaned = blocksBetween(chains, ancestor, chains.cut)
  if (!chains.adopt(branch)) throw new Error('the new branch weighs more, and was not adopted')
  return { ancestor, orphaned, added: blocksBetween(chains, ancestor, branch) }
}

function ancestorCut({ chains, coordinator }: BlockMaker, chain: number, depth: number): Cut {
  const { cut, network } = chains
  const floor = Number(headOf(cut, chain).height) - depth
  if (floor < 0) {
    throw new OrderRefused(409, `chain ${chain} has height ${floor + depth}: depth ${depth} is below its genesis block`)
  }
  const ancestor = new Map<number, Header>()
  const distances = distancesFrom(network, chain)
  for (const [other, head] of cut) {
    const height = floor + (distances.get(other) ?? Number.POSITIVE_INFINITY)
    const isKept = Number(head.height) <= height
    if (!isKept && coordinator.paused.has(other)) {
      throw new OrderRefused(409, `chain ${other} would lose ${Number(head.height) - height} blocks, but it is paused`)
    }
    ancestor.set(other, isKept ? head : chains.ancestor(head.hash, height))
  }
  return ancestor
}

/** The lowest chain that may grow; of several the one that lost most. */
function nextChain({ chains, coordinator }: BlockMaker, branch: Cut, ancestor: Cut): number {
  const lost = (chain: number) => Number(headOf(chains.cut, chain).height - headOf(ancestor, chain).height)
  const height = (chain: number) => Number(headOf(branch, chain).height)
  const candidates = unblocked(chains.network, branch).filter((chain) => !coordinator.paused.has(chain))
  const [first] = candidates.sort((a, b) => height(a) - height(b) || lost(b) - lost(a))
  if (first === undefined) {
    throw new OrderRefused(409, 'the new branch cannot outweigh the present one: all chains that may grow are paused')
  }
  return first
}

function blocksBetween(chains: Chains, from: Cut, to: Cut): Map<number, string[]> {
  const blocks = new Map<number, string[]>()
  for (const [chain, base] of from) {
    const hashes: string[] = []
    for (let head = headOf(to, chain); head.height > base.height; ) {
      hashes.push(encodeBase64Url(head.hash))
      head = chains.ancestor(head.parent, Number(head.height) - 1)
    }
    if (hashes.length > 0) blocks.set(chain, hashes.reverse())
  }
  return blocks
}
