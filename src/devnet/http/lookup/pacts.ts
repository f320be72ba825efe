/** Pages of pacts: which steps have run on the current chains, and what the next one waits for. */
import { type ExactJson, exactJsonText, parseExactJson } from '#ground/base/json.ts'
import { DEFAULT_LOOKUP_ITEMS } from '#ground/schema/lookup.ts'
import type { ListedPact, ListedStep, NextPactStep, PactFailure, PactProgress } from '#ground/schema/pacts.ts'
import type { Cont } from '../../command/command.ts'
import type { NodeCopy, PactBelow } from '../../copy/node-copy.ts'
import { proofHeight } from '../../ledger/spv.ts'
import type { Mempools } from '../../mempool/mempools.ts'
import { JsonObjectWriter } from '../encode/json-object.ts'
import { RequestRefused } from '../refusal.ts'
import { createdMs, type SearchedNode } from './block-search.ts'
import type { CurrentSteps, IndexedPact, PactAttempt, PactIndex } from './pact-index.ts'

export interface PactNode extends SearchedNode {
  readonly pools: Mempools
  readonly fork: NodeCopy | null
}

interface PactQuery {
  readonly open?: boolean | undefined
  readonly limit?: number | undefined
  readonly next?: string | undefined
}

/** A pact on the current chains. */
interface CurrentPact extends Pick<IndexedPact, 'pactId' | 'failures'>, CurrentSteps {}

const decoder = new TextDecoder()
/** `open:ID` or `finished:ID`, of the last pact of the page before. */
const CURSOR = /^(open|finished):([\w-]{1,43})$/

/** @returns JSON of a page; arguments keep all digits. @throws RequestRefused for a cursor that is none */
export function pactPageText(node: PactNode, index: PactIndex, { open, limit, next }: PactQuery): string {
  index.read()
  const most = limit ?? DEFAULT_LOOKUP_ITEMS
  const shown: CurrentPact[] = []
  let cursor: string | null = null
  for (const { pactId, failures, current } of pactsAfter(index, next, open === true)) {
    if (current === null) continue
    const last = shown.at(-1)
    if (last !== undefined && shown.length === most) {
      cursor = `${last.isOpen ? 'open' : 'finished'}:${last.pactId}`
      break
    }
    shown.push({ pactId, failures, ...current })
  }
  const about = { open: index.open, finished: index.finished, next: cursor, unread: index.unread }
  const texts = shown.map((each) => pactText(node, each))
  return new JsonObjectWriter().fields(about).raw('pacts', `[${texts.join(',')}]`).text
}

/**
 * The page of one pact. On a fork, it may have begun below the pin.
 * @throws RequestRefused if no chain has it, and NewcutError if the forked node does not answer
 */
export async function onePactText(node: PactNode, index: PactIndex, pactId: string): Promise<string> {
  index.read()
  const isWhole = index.find(pactId)?.current?.steps[0].step === 0
  const below = isWhole || node.fork === null ? null : await node.fork.pactBelow(pactId)
  // Blocks may have come while the forked node was asked.
  const found = index.find(pactId)
  const current = found?.current ?? null
  const about = { open: index.open, finished: index.finished, next: null, unread: index.unread }
  const page = (texts: string) => new JsonObjectWriter().fields(about).raw('pacts', `[${texts}]`).text
  if (current !== null) return page(pactText(node, { pactId, failures: found?.failures ?? [], ...current }, below))
  if (below !== null) return page(pinnedPactText(node, pactId, below))
  if (index.unread > 0) return page('')
  throw new RequestRefused(404, `no chain has the pact ${pactId} now`)
}

/** A pact without a step above the pin. */
function pinnedPactText(node: PactNode, pactId: string, { first, next }: PactBelow): string {
  const { chains, fork } = node
  const { chain, target, stepCount, name, args } = first
  const nextChain = target ?? chain
  const isCrossing = next === 1 && target !== null && target !== chain
  const height = isCrossing ? proofHeight(chains, { block: first, targetChain: nextChain }) : 0
  // A proof whose root is above the pin is of the other network.
  const isProvable = height !== null && height <= (fork?.pin.height ?? 0)
  const waits: NextPactStep | null =
    next === null
      ? null
      : {
          step: next,
          chain: nextChain,
          proofOf: isCrossing ? { chain, requestKey: pactId } : null,
          missingBlocks: isProvable ? 0 : null,
          hasRollback: next === 1 && first.hasRollback,
          pendingKey: pendingKeyOf(node, nextChain, { pactId, step: next - 1 }),
        }
  const state = pinnedStateOf(waits, isProvable)
  const about: Omit<ListedPact, 'args'> = {
    pactId,
    name,
    stepCount,
    state,
    steps: [pinnedStep(pactId, first)],
    failures: [],
    next: waits,
    ...(next !== 1 && { note: UNKNOWN_STEPS }),
  }
  return new JsonObjectWriter().fields(about).raw('args', exactJsonText(args)).text
}

function pinnedStateOf(next: NextPactStep | null, isProvable: boolean): PactProgress {
  if (next === null) return 'finished'
  if (!isProvable) return 'unreachable'
  return next.pendingKey === null ? 'ready' : 'pending'
}

/** Only the command of the first step has the id of the pact as its request key. */
const UNKNOWN_STEPS = 'later steps ran below the fork: nodes do not tell which commands ran them'

function pinnedStep(pactId: string, { chain, height, block, createdMs, target }: PactBelow['first']): ListedStep {
  return { requestKey: pactId, chain, height, block, createdMs, step: 0, isRollback: false, targetChain: target }
}

/**
 * Pacts after a cursor: unfinished ones, then finished ones, the newest first. A pact that has finished since the page
 * before keeps its place among the unfinished ones.
 */
function* pactsAfter(index: PactIndex, cursor: string | undefined, onlyOpen: boolean): Generator<IndexedPact> {
  const { section, place } = placeOf(index, cursor)
  if (section === 'open') yield* index.newest('open', place)
  if (!onlyOpen) yield* index.newest('finished', section === 'open' ? undefined : place)
}

function placeOf(index: PactIndex, cursor: string | undefined): { readonly section: string; readonly place?: number } {
  if (cursor === undefined) return { section: 'open' }
  const [, section, pactId] = CURSOR.exec(cursor) ?? []
  if (pactId === undefined) {
    const shown = JSON.stringify(cursor)
    throw new RequestRefused(400, `next: ${shown} is not a cursor; take the text of \`next\` of the page before`)
  }
  const last = index.find(pactId)
  if (last === undefined) throw new RequestRefused(404, `next: no chain has the pact ${pactId} now`)
  return { section, place: last.place }
}

/** @param below what is below the pin of a fork, if that is known and the pact began there */
function pactText(node: PactNode, pact: CurrentPact, below: PactBelow | null = null): string {
  const { pactId, steps, failures, last } = pact
  const { def: name, args } = pactCallOf(node, steps[0])
  const next = pact.isOpen ? nextStep(node, pact) : null
  const about: Omit<ListedPact, 'args'> = {
    pactId,
    name: String(name),
    stepCount: last.stepCount,
    state: stateOf(pact, next),
    steps: [
      ...(below === null ? [] : [pinnedStep(pactId, below.first)]),
      ...steps.map((each): ListedStep => {
        return { ...attemptPlaceOf(node, each), targetChain: each.target === null ? null : Number(each.target) }
      }),
    ],
    failures: failures.toReversed().map((each): PactFailure => ({ ...attemptPlaceOf(node, each), fault: each.fault })),
    next,
    ...(below !== null && below.next !== 1 && { note: UNKNOWN_STEPS }),
  }
  return new JsonObjectWriter().fields(about).raw('args', exactJsonText(args)).text
}

type JsonObject = Readonly<Record<string, ExactJson>>

/** Name and arguments of the pact of a step. */
function pactCallOf({ chains: { store } }: PactNode, { record, index }: PactAttempt): JsonObject {
  const { output } = store.blockAt(record).payload.transactions[index]
  const { continuation } = parseExactJson(decoder.decode(output)) as { readonly continuation: JsonObject }
  return continuation.continuation as JsonObject
}

function attemptPlaceOf({ chains: { store } }: PactNode, { requestKey, record, step, isRollback }: PactAttempt) {
  const block = store.blockAt(record)
  const { chain, height, id } = block
  return { requestKey, chain, height, block: id, createdMs: createdMs(block), step, isRollback }
}

function nextStep(node: PactNode, { pactId, last }: CurrentPact): NextPactStep {
  const { chains } = node
  const block = chains.store.blockAt(last.record)
  const chain = last.target === null ? block.chain : Number(last.target)
  const isHere = chain === block.chain
  const height = isHere ? 0 : proofHeight(chains, { block, targetChain: chain })
  const head = Number(chains.cut.get(chain)?.height ?? 0)
  return {
    step: last.step + 1,
    chain,
    proofOf: isHere ? null : { chain: block.chain, requestKey: last.requestKey },
    missingBlocks: height === null ? null : Math.max(0, height - head),
    hasRollback: last.hasRollback,
    pendingKey: pendingKeyOf(node, chain, { pactId, step: last.step }),
  }
}

/** A pending command that runs the step after this one, or rolls this one back. */
function pendingKeyOf({ chains, pools }: PactNode, chain: number, last: Pick<Cont, 'pactId' | 'step'>): string | null {
  if (!chains.chainIds.includes(chain)) return null
  const isNext = ({ step, isRollback }: Cont) => step === (isRollback ? last.step : last.step + 1)
  const pending = pools.poolOf(chain).continuing(last.pactId)
  return pending.find(({ command: { payload } }) => payload.kind === 'cont' && isNext(payload))?.key ?? null
}

function stateOf({ last, failures }: CurrentPact, next: NextPactStep | null): PactProgress {
  if (next === null) return last.isRollback ? 'rolled back' : 'finished'
  if (next.missingBlocks === null) return 'unreachable'
  if (next.pendingKey !== null) return 'pending'
  if (next.missingBlocks > 0) return 'waiting'
  return failures.some(({ step, isRollback }) => isRollback || step > last.step) ? 'failed' : 'ready'
}
