/**
 * A node that has others of its network beside it. While it does not answer, they are asked what became of a block, and
 * a solution is handed to them too: behind another address may be the same node, which knows the payload.
 */
import { type Clock, sleep } from '../../core/clock.ts'
import { NewcutError } from '../../core/errors.ts'
import type { Work } from '../../core/work.ts'
import { NodeRefusal } from '../../node/errors.ts'
import type { MiningNode, Place } from '../node/mining-node.ts'
import { blocksOfCut, type NamedBlock } from './continuity.ts'

/** A solution goes to the others as well when the node has not answered for so long. */
const PATIENCE_MS = 1_000

export interface Help {
  readonly clock: Clock
  /** Whether the node answers, as far as anybody knows. */
  readonly isUp: () => boolean
  /** Other nodes of the network that answer. */
  readonly others: () => readonly MiningNode[]
  /** Throws NewcutError for work that is not to be searched, or the signal's reason. */
  readonly assure: (work: Work, signal: AbortSignal) => Promise<void>
  /** The heads that the node has told, without first blocks. Throws NewcutError, or the signal's reason. */
  readonly onBlocks: (blocks: readonly NamedBlock[], signal: AbortSignal) => Promise<void>
  /** The node's news no longer come. */
  readonly onBroken: () => void
}

export function helpedNode(own: MiningNode, help: Help): MiningNode {
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
      await help.assure(work, signal)
      return work
    },
    forkVote: () => own.forkVote(),
    finalRefusal: (error, signal) => own.finalRefusal(error, signal),
    cut: async (signal) => {
      const cut = await own.cut(signal)
      await help.onBlocks(blocksOfCut(cut), signal)
      return cut
    },
    ...(view && { view }),
    onLost: (run, signal) => own.onLost?.(run, signal),
    solved: (bytes, signal) => handedIn(own, help, { bytes, signal }),
    placeOf: (block, signal) => placeAmong(own, help, (node) => node.placeOf(block, signal)),
    branch: (chain, lowest, highest, signal) => anyOf((node) => node.branch(chain, lowest, highest, signal)),
    news: (chain, handlers) => {
      const onBroken = (error: NewcutError) => {
        help.onBroken()
        handlers.onBroken(error)
      }
      own.news(chain, { ...handlers, onBroken })
    },
  }
}

/** The answer of the node, or of the first other that has one. Throws the failure of the node. */
async function firstAnswer<T>(own: MiningNode, help: Help, call: (node: MiningNode) => Promise<T>): Promise<T> {
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
 * Where a block is. Others may not have it yet that the node has, or be on another branch: that it is not on their chain
 * says nothing while the node is up and fails but once. That they call one orphaned that it does not know does count.
 * While it is thought to be down it is asked all the same before a block counts as unknown, for as long as a patient one waits.
 */
async function placeAmong(own: MiningNode, help: Help, call: (node: MiningNode) => Promise<Place>): Promise<Place> {
  const isUp = help.isUp()
  const place = await firstAnswer(own, help, async (node) => {
    const told = await call(node)
    if (isUp && node !== own && told.kind !== 'on-chain') {
      throw new NewcutError('NODE_REFUSED', `${node.url} does not have this block on its chain`)
    }
    return told
  })
  if (isUp) return place.kind === 'passed' ? ((await orphanedAmong(help, call)) ?? place) : place
  if (isFound(place)) return place
  const end = new AbortController()
  const answer = call(own).catch((error) => {
    if (error instanceof NewcutError || (error as Error).name === 'AbortError') return place
    throw error
  })
  const first = await Promise.race([answer, sleep(help.clock, PATIENCE_MS, end.signal)])
  end.abort()
  return first ?? place
}

/**
 * Where a block is that the node does not know: another one may have taken it, and gone over to the branch of the node.
 * null: none of them says so.
 */
async function orphanedAmong(help: Help, call: (node: MiningNode) => Promise<Place>): Promise<Place | null> {
  const answers = help.others().map(async (node) => {
    const place = await call(node)
    if (place.kind !== 'orphaned')
      throw new NewcutError('NODE_REFUSED', `${node.url} does not call this block orphaned`)
    return place
  })
  const end = new AbortController()
  const first = await Promise.race([
    Promise.any(answers).catch(({ errors }: AggregateError) => {
      const fault = errors.find((error) => !(error instanceof NewcutError) && error?.name !== 'AbortError')
      if (fault !== undefined) throw fault
      return null
    }),
    sleep(help.clock, PATIENCE_MS, end.signal),
  ])
  end.abort()
  return first ?? null
}

const isFound = ({ kind }: Place) => kind === 'on-chain' || kind === 'orphaned'

async function handedIn(
  own: MiningNode,
  { clock, isUp, others }: Help,
  { bytes, signal }: { readonly bytes: Uint8Array; readonly signal: AbortSignal },
): Promise<void> {
  const answer = own.solved(bytes, signal)
  const end = new AbortController()
  const failure = await Promise.race([
    answer.then(
      () => null,
      (error: unknown) => ({ error }),
    ),
    sleep(clock, isUp() ? PATIENCE_MS : 0, end.signal),
  ])
  end.abort()
  if (failure === null || (failure && isJudgement(failure.error))) return answer
  // What the others say does not count unless they take it: they need not know the payload.
  return Promise.any([answer, ...others().map((other) => other.solved(bytes, signal))]).catch(() => answer)
}

/** The node itself refuses: no other knows better. */
const isJudgement = (error: unknown) => error instanceof NodeRefusal && error.isNodesOwn
