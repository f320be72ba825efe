/** Reorgs on request: makes a heavier branch from a cut some blocks back. */
import { encodeBase64Url } from '#ground/base/bytes.ts'
import { type Cut, cutWeight } from '#ground/chain/cut.ts'
import type { Header } from '#ground/chain/header.ts'
import type { MinerAccount } from '#ground/chain/payload.ts'
import type { Chains } from '../rules/chains.ts'
import { type BlockMaker, distancesFrom, headOf, unblockedChainsOf } from './block-maker.ts'
import { ControlError } from './control-error.ts'

/** Maximum blocks of the new branch. More are needed only if other miners keep extending the old branch. */
const MAX_BRANCH_BLOCKS = 50_000
/** Paid on the new branch, so that its blocks differ from the old ones even at equal times. */
export const branchAccount: MinerAccount = { account: 'fork', predicate: 'keys-all', publicKeys: [] }

interface ReorgResult {
  /** The cut that both branches share. */
  readonly ancestor: Cut
  /** Chain -> block hashes (base64url) by ascending height; only chains that lost or gained blocks. */
  readonly orphaned: ReadonlyMap<number, readonly string[]>
  readonly added: ReadonlyMap<number, readonly string[]>
}

/**
 * Rolls back to the cut in which `chain` is `depth` blocks lower. Other chains roll back only as far as braiding
 * requires: a chain at distance k stays at most k higher. Then makes blocks until the new branch weighs more and no
 * chain is lower than before.
 * @throws ControlError
 */
export function reorg(maker: BlockMaker, chain: number, depth: number, signal: AbortSignal): Promise<ReorgResult> {
  const { chains } = maker
  const ancestor = ancestorCut(maker, chain, depth)
  return maker.run('fork', null, signal, async (request) => {
    const branch = new Map(ancestor)
    for (; !isAbove(branch, chains.cut); request.made++) {
      if (request.made === MAX_BRANCH_BLOCKS) throw new ControlError({ kind: 'outgrown', blocks: request.made })
      const next = nextChain(maker, branch, ancestor)
      // No transactions: those of the old branch return to the pools.
      const { work, payload } = maker.emptyOn(next, branch, branchAccount)
      const addition = chains.insert(await maker.solve(work, request), payload)
      if (addition.status !== 'added') throw new Error(`chain ${next} of the new branch: ${JSON.stringify(addition)}`)
      branch.set(next, addition.block.header)
      maker.announce(addition.block.header, addition, 'order')
      await request.pause()
    }
    const orphaned = blocksBetween(chains, ancestor, chains.cut)
    if (!chains.adopt(branch)) throw new Error('the new branch weighs more, and was not adopted')
    return { ancestor, orphaned, added: blocksBetween(chains, ancestor, branch) }
  })
}

/** Whether a branch weighs more than the current cut, and every chain of it is at least as high. */
function isAbove(branch: Cut, present: Cut): boolean {
  if (cutWeight(branch) <= cutWeight(present)) return false
  return [...present].every(([chain, { height: heightOf }]) => headOf(branch, chain).height >= heightOf)
}

function ancestorCut({ chains, coordinator }: BlockMaker, chain: number, depth: number): Cut {
  const { cut, network } = chains
  const { height } = headOf(cut, chain)
  const floor = Number(height) - depth
  if (floor < 0) throw new ControlError({ kind: 'below-genesis', chain, height: Number(height), depth })
  const ancestor = new Map<number, Header>()
  const distances = distancesFrom(network, chain)
  for (const [other, head] of cut) {
    const kept = floor + (distances.get(other) ?? Number.POSITIVE_INFINITY)
    const blocks = Number(head.height) - kept
    if (blocks > 0 && coordinator.paused.has(other)) {
      throw new ControlError({ kind: 'paused-chain-loses', chain: other, blocks })
    }
    ancestor.set(other, blocks > 0 ? chains.ancestor(head.hash, kept) : head)
  }
  return ancestor
}

/** The lowest chain that may grow; among equals, the one that lost most blocks. */
function nextChain({ chains, coordinator }: BlockMaker, branch: Cut, ancestor: Cut): number {
  const lossOf = (chain: number) => Number(headOf(chains.cut, chain).height - headOf(ancestor, chain).height)
  const height = (chain: number) => Number(headOf(branch, chain).height)
  const candidates = unblockedChainsOf(chains.network, branch).filter((chain) => !coordinator.paused.has(chain))
  const [first] = candidates.sort((a, b) => height(a) - height(b) || lossOf(b) - lossOf(a))
  if (first === undefined) throw new ControlError({ kind: 'all-paused' })
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
