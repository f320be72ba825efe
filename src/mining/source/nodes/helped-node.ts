/**
 * A node with helpers from the same network. While it does not answer, the helpers are asked about blocks and also get
 * its solutions: another address may belong to the same node, which knows the payload.
 */

import { NodeRefusal } from '#client/node/errors.ts'
import { type Clock, sleep } from '#ground/base/clock.ts'
import { NewcutError, operatingError } from '#ground/base/errors.ts'
import type { Work } from '#ground/chain/work.ts'
import { sourceErrors } from '../errors.ts'
import type { BlockPosition, MiningNode } from '../node/mining-node.ts'
import { blocksOfCut, type NamedBlock } from './continuity.ts'

/** Wait for the node before the helpers get a solution too. */
const HELPER_DELAY_MS = 1_000

interface FollowerPorts {
  readonly clock: Clock
  /** Whether the node seems to answer. */
  readonly isUp: () => boolean
  /** Helpers that answer. */
  readonly others: () => readonly MiningNode[]
  /** @throws NewcutError for work that must not be searched, or the reason of the signal */
  readonly verifyWork: (work: Work, signal: AbortSignal) => Promise<void>
  /**
   * Receives the heads of each cut, without genesis blocks.
   * @throws NewcutError, or the reason of the signal
   */
  readonly onBlocks: (blocks: readonly NamedBlock[], signal: AbortSignal) => Promise<void>
  /** Called when an update stream of the node breaks. */
  readonly onBroken: () => void
}

export function addHelpers(own: MiningNode, help: FollowerPorts): MiningNode {
  const view = own.view?.bind(own)
  const anyOf = <T>(call: (node: MiningNode) => Promise<T>) => firstAnswer(own, help, call)
  return {
    url: own.url,
    description: own.description,
    workBytes: own.workBytes,
    chains: own.chains,
    ...(own.graphHistory && { graphHistory: own.graphHistory }),
    work: async (chain, signal) => {
      const work = await own.work(chain, signal)
      await help.verifyWork(work, signal)
      return work
    },
    forkVote: () => own.forkVote(),
    findFinalRefusal: (error, signal) => own.findFinalRefusal(error, signal),
    cut: async (signal) => {
      const cut = await own.cut(signal)
      await help.onBlocks(blocksOfCut(cut), signal)
      return cut
    },
    ...(view && { view }),
    onLost: (run, signal) => own.onLost?.(run, signal),
    submit: (bytes, signal) => submitToAny(own, help, { bytes, signal }),
    positionOf: (block, signal) => positionAmong(own, help, (node) => node.positionOf(block, signal)),
    branch: (chain, lowest, highest, signal) => anyOf((node) => node.branch(chain, lowest, highest, signal)),
    followNews: (chain, handlers) => {
      const onBroken = (error: NewcutError) => {
        help.onBroken()
        handlers.onBroken(error)
      }
      own.followNews(chain, { ...handlers, onBroken })
    },
  }
}

/**
 * The answer of the node, or of the first helper that has one.
 * @throws the failure of the node
 */
async function firstAnswer<T>(
  own: MiningNode,
  help: FollowerPorts,
  call: (node: MiningNode) => Promise<T>,
): Promise<T> {
  let failure: unknown
  for (const node of help.isUp() ? [own, ...help.others()] : [...help.others(), own]) {
    try {
      return await call(node)
    } catch (error) {
      if (!(error instanceof NewcutError)) throw error
      if (node === own) failure = error
      if (node === own && isJudgement(error)) break
    }
  }
  throw failure
}

/**
 * Looks up a block. Helpers may not have it yet, or be on another branch. So while the node is up, only a block on a
 * helper's chain counts, or `orphaned` for a block that the node does not know. Even if the node seems down, it is
 * asked too, for up to HELPER_DELAY_MS, before a block counts as unknown.
 */
async function positionAmong(
  own: MiningNode,
  help: FollowerPorts,
  call: (node: MiningNode) => Promise<BlockPosition>,
): Promise<BlockPosition> {
  const isUp = help.isUp()
  const place = await firstAnswer(own, help, async (node) => {
    const position = await call(node)
    if (isUp && node !== own && position.kind !== 'on-chain') {
      throw operatingError(sourceErrors.blockNotOnHelper, { url: node.url })
    }
    return position
  })
  if (isUp) return place.kind === 'passed' ? ((await findOrphaned(help, call)) ?? place) : place
  if (isFound(place)) return place
  const end = new AbortController()
  const answer = call(own).catch((error) => {
    if (error instanceof NewcutError || (error as Error).name === 'AbortError') return place
    throw error
  })
  const first = await Promise.race([answer, sleep(help.clock, HELPER_DELAY_MS, end.signal)])
  end.abort()
  return first ?? place
}

/**
 * Looks for a helper that knows a block as orphaned: it may have taken the block, and then switched to the node's
 * branch.
 * @returns null if none does
 */
async function findOrphaned(
  help: FollowerPorts,
  call: (node: MiningNode) => Promise<BlockPosition>,
): Promise<BlockPosition | null> {
  const answers = help.others().map(async (node) => {
    const place = await call(node)
    if (place.kind !== 'orphaned') throw operatingError(sourceErrors.blockNotOrphanedOnHelper, { url: node.url })
    return place
  })
  const end = new AbortController()
  const first = await Promise.race([
    Promise.any(answers).catch(({ errors }: AggregateError) => {
      const fault = errors.find((error) => !(error instanceof NewcutError) && error?.name !== 'AbortError')
      if (fault !== undefined) throw fault
      return null
    }),
    sleep(help.clock, HELPER_DELAY_MS, end.signal),
  ])
  end.abort()
  return first ?? null
}

const isFound = ({ kind }: BlockPosition) => kind === 'on-chain' || kind === 'orphaned'

async function submitToAny(
  own: MiningNode,
  { clock, isUp, others }: FollowerPorts,
  { bytes, signal }: { readonly bytes: Uint8Array; readonly signal: AbortSignal },
): Promise<void> {
  const answer = own.submit(bytes, signal)
  const end = new AbortController()
  const failure = await Promise.race([
    answer.then(
      () => null,
      (error: unknown) => ({ error }),
    ),
    sleep(clock, isUp() ? HELPER_DELAY_MS : 0, end.signal),
  ])
  end.abort()
  if (failure === null || (failure && isJudgement(failure.error))) return answer
  // The refusals of helpers do not count, because they need not know the payload.
  return Promise.any([answer, ...others().map((other) => other.submit(bytes, signal))]).catch(() => answer)
}

/** Whether the node itself refuses; no helper knows better. */
const isJudgement = (error: unknown) => error instanceof NodeRefusal && error.isNodesOwn
