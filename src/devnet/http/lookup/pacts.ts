/** Pages of pacts: which steps have run on the present chains, and what the next one waits for. */
import { type ExactJson, parseExactJson } from '../../../core/json.ts'
import { exactText } from '../../../fork/exact-text.ts'
import { DEFAULT_LOOKUP_ITEMS } from '../../../schema/lookup.ts'
import type { ListedPact, ListedStep, NextStep, PactFailure, PactProgress } from '../../../schema/pacts.ts'
import type { Cont } from '../../command/command.ts'
import { proofHeight } from '../../ledger/spv.ts'
import type { Mempools } from '../../mempool/mempools.ts'
import { RequestRefused } from '../refusal.ts'
import { createdMs, type SearchedNode } from './block-search.ts'
import type { IndexedPact, PactAttempt, PactIndex, PresentSteps } from './pact-index.ts'

export interface PactNode extends SearchedNode {
  readonly pools: Mempools
}

export interface PactQuery {
  readonly open?: boolean | undefined
  readonly limit?: number | undefined
  readonly next?: string | undefined
}

/** A pact on the present chains. */
interface PresentPact extends Pick<IndexedPact, 'pactId' | 'failures'>, PresentSteps {}

const decoder = new TextDecoder()
/** `open:ID` or `finished:ID`, of the last pact of the page before. */
const CURSOR = /^(open|finished):([\w-]{1,43})$/

/** @returns JSON of a page; arguments keep all digits. @throws RequestRefused for a cursor that is none */
export function pactPageText(node: PactNode, index: PactIndex, { open, limit, next }: PactQuery): string {
  index.read()
  const most = limit ?? DEFAULT_LOOKUP_ITEMS
  const shown: PresentPact[] = []
  let cursor: string | null = null
  for (const { pactId, failures, present } of pactsBehind(index, next, open === true)) {
    if (present === null) continue
    const last = shown.at(-1)
    if (last !== undefined && shown.length === most) {
      cursor = `${last.isOpen ? 'open' : 'finished'}:${last.pactId}`
      break
    }
    shown.push({ pactId, failures, ...present })
  }
  const about = { open: index.open, finished: index.finished, next: cursor, unread: index.unread }
  const texts = shown.map((each) => pactText(node, each))
  return `${JSON.stringify(about).slice(0, -1)},"pacts":[${texts.join(',')}]}`
}

/**
 * Pacts behind a cursor: unfinished ones, then finished ones, the newest first. A pact that has finished since the page
 * before keeps its place among the unfinished ones.
 */
function* pactsBehind(index: PactIndex, cursor: string | undefined, onlyOpen: boolean): Generator<IndexedPact> {
  const { section, place } = placeOf(index, cursor)
  if (section === 'open') yield* index.newest('open', place)
  if (!onlyOpen) yield* index.newest('finished', section === 'open' ? undefined : place)
}

function placeOf(index: PactIndex, cursor: string | undefined): { readonly section: string; readonly place?: number } {
  if (cursor === undefined) return { section: 'open' }
  const [, section, pactId] = CURSOR.exec(cursor) ?? []
  if (pactId === undefined) {
    const shown = JSON.stringify(cursor)
    throw new RequestRefused(400, `next: ${shown} is no cursor; take the text of \`next\` of the page before`)
  }
  const last = index.find(pactId)
  if (last === undefined) throw new RequestRefused(404, `next: no chain has the pact ${pactId} now`)
  return { section, place: last.place }
}

function pactText(node: PactNode, pact: PresentPact): string {
  const { pactId, steps, failures, last } = pact
  const { def: name, args } = calledIn(node, steps[0])
  const next = pact.isOpen ? nextStep(node, pact) : null
  const about: Omit<ListedPact, 'args'> = {
    pactId,
    name: String(name),
    stepCount: last.stepCount,
    state: stateOf(pact, next),
    steps: steps.map((each): ListedStep => {
      return { ...attemptIn(node, each), targetChain: each.target === null ? null : Number(each.target) }
    }),
    failures: failures.toReversed().map((each): PactFailure => ({ ...attemptIn(node, each), fault: each.fault })),
    next,
  }
  return `${JSON.stringify(about).slice(0, -1)},"args":${exactText(args)}}`
}

type JsonObject = Readonly<Record<string, ExactJson>>

/** Name and arguments of the pact of a step. */
function calledIn({ chains: { store } }: PactNode, { record, index }: PactAttempt): JsonObject {
  const { output } = store.blockAt(record).payload.transactions[index]
  const { continuation } = parseExactJson(decoder.decode(output)) as { readonly continuation: JsonObject }
  return continuation.continuation as JsonObject
}

function attemptIn({ chains: { store } }: PactNode, { requestKey, record, step, isRollback }: PactAttempt) {
  const block = store.blockAt(record)
  const { chain, height, id } = block
  return { requestKey, chain, height, block: id, createdMs: createdMs(block), step, isRollback }
}

function nextStep({ chains, pools }: PactNode, { pactId, last }: PresentPact): NextStep {
  const block = chains.store.blockAt(last.record)
  const chain = last.target === null ? block.chain : Number(last.target)
  const step = last.step + 1
  const isHere = chain === block.chain
  const height = isHere ? 0 : proofHeight(chains, { block, targetChain: chain })
  const head = Number(chains.cut.get(chain)?.height ?? 0)
  const pending = chains.chainIds.includes(chain) ? pools.of(chain).continuing(pactId) : []
  const isNext = ({ step: asked, isRollback }: Cont) => (isRollback ? asked === last.step : asked === step)
  return {
    step,
    chain,
    proofOf: isHere ? null : { chain: block.chain, requestKey: last.requestKey },
    missingBlocks: height === null ? null : Math.max(0, height - head),
    hasRollback: last.hasRollback,
    pendingKey: pending.find(({ command: { payload } }) => payload.kind === 'cont' && isNext(payload))?.key ?? null,
  }
}

function stateOf({ last, failures }: PresentPact, next: NextStep | null): PactProgress {
  if (next === null) return last.isRollback ? 'rolled back' : 'finished'
  if (next.missingBlocks === null) return 'unreachable'
  if (next.pendingKey !== null) return 'pending'
  if (next.missingBlocks > 0) return 'waiting'
  return failures.some(({ step, isRollback }) => isRollback || step > last.step) ? 'failed' : 'ready'
}
