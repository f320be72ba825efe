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
import type { IndexedPact, PactAttempt, PactIndex, PactRunStep } from './pact-index.ts'

export interface PactNode extends SearchedNode {
  readonly pools: Mempools
}

export interface PactQuery {
  readonly open?: boolean | undefined
  readonly limit?: number | undefined
  readonly next?: string | undefined
}

/** A pact on the present chains. */
interface PresentPact extends IndexedPact {
  /** Place among all pacts. */
  readonly place: number
  readonly last: PactRunStep
  readonly isOpen: boolean
}

const decoder = new TextDecoder()
/** `open:ID` or `finished:ID`, of the last pact of the page before. */
const CURSOR = /^(open|finished):([\w-]{1,43})$/

/** @returns JSON of a page; arguments keep all digits. @throws RequestRefused for a cursor that is none */
export function pactPageText(node: PactNode, index: PactIndex, { open, limit, next }: PactQuery): string {
  index.read()
  const present = presentPacts(node, index)
  const [opened, finished] = [present.filter(({ isOpen }) => isOpen), present.filter(({ isOpen }) => !isOpen)]
  const all = open === true ? opened : [...opened, ...finished]
  const from = next === undefined ? 0 : startIn(all, present, next)
  const shown = all.slice(from, from + (limit ?? DEFAULT_LOOKUP_ITEMS))
  const last = shown.at(-1)
  const pending = pendingSteps(node)
  const cursor =
    last === undefined || from + shown.length >= all.length
      ? null
      : `${last.isOpen ? 'open' : 'finished'}:${last.pactId}`
  const about = { open: opened.length, finished: finished.length, next: cursor, unread: index.unread }
  const texts = shown.map((each) => pactText(node, each, pending))
  return `${JSON.stringify(about).slice(0, -1)},"pacts":[${texts.join(',')}]}`
}

/** The newest first. */
function presentPacts({ chains: { store }, ledger }: PactNode, index: PactIndex): PresentPact[] {
  const isPresent = ({ record }: PactAttempt) => ledger.isOnChain(store.chainAt(record), record)
  return index.pacts
    .flatMap(({ pactId, steps: all, failures }, place): PresentPact[] => {
      const steps = all.filter(isPresent).sort((a, b) => a.step - b.step || Number(a.isRollback) - Number(b.isRollback))
      const last = steps.at(-1)
      if (last === undefined) return []
      const isOpen = !last.isRollback && last.step < last.stepCount - 1
      return [{ pactId, steps, failures: failures.filter(isPresent), place, last, isOpen }]
    })
    .reverse()
}

/** Index of the first pact behind a cursor. A pact that has finished since keeps its place among the unfinished ones. */
function startIn(all: readonly PresentPact[], present: readonly PresentPact[], cursor: string): number {
  const [, section, pactId] = CURSOR.exec(cursor) ?? []
  if (pactId === undefined) {
    const shown = JSON.stringify(cursor)
    throw new RequestRefused(400, `next: ${shown} is no cursor; take the text of \`next\` of the page before`)
  }
  const last = present.find((each) => each.pactId === pactId)
  if (last === undefined) throw new RequestRefused(404, `next: no chain has the pact ${pactId} now`)
  const found = all.findIndex(({ isOpen, place }) => {
    return isOpen ? section === 'open' && place < last.place : section === 'open' || place < last.place
  })
  return found < 0 ? all.length : found
}

type PendingSteps = ReadonlyMap<string, string>

const stepKey = (chain: number, { pactId, step, isRollback }: Pick<Cont, 'pactId' | 'step' | 'isRollback'>) =>
  `${chain} ${pactId} ${step} ${isRollback}`

/** Continuations in mempools: chain, pact, step and direction -> request key. */
function pendingSteps({ chains, pools }: PactNode): PendingSteps {
  const found = new Map<string, string>()
  for (const chain of chains.chainIds) {
    for (const { key, command } of pools.of(chain).all) {
      if (command.payload.kind === 'cont') found.set(stepKey(chain, command.payload), key)
    }
  }
  return found
}

function pactText(node: PactNode, pact: PresentPact, pending: PendingSteps): string {
  const { pactId, steps, failures, last } = pact
  const { def: name, args } = calledIn(node, steps[0])
  const next = pact.isOpen ? nextStep(node, pact, pending) : null
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

function nextStep(node: PactNode, { pactId, last }: PresentPact, pending: PendingSteps): NextStep {
  const { chains } = node
  const block = chains.store.blockAt(last.record)
  const chain = last.target === null ? block.chain : Number(last.target)
  const step = last.step + 1
  const isHere = chain === block.chain
  const height = isHere ? 0 : proofHeight(chains, { block, targetChain: chain })
  const head = Number(chains.cut.get(chain)?.height ?? 0)
  const forward = stepKey(chain, { pactId, step, isRollback: false })
  const back = stepKey(chain, { pactId, step: last.step, isRollback: true })
  return {
    step,
    chain,
    proofOf: isHere ? null : { chain: block.chain, requestKey: last.requestKey },
    missingBlocks: height === null ? null : Math.max(0, height - head),
    hasRollback: last.hasRollback,
    pendingKey: pending.get(forward) ?? pending.get(back) ?? null,
  }
}

function stateOf({ last, failures }: PresentPact, next: NextStep | null): PactProgress {
  if (next === null) return last.isRollback ? 'rolled back' : 'finished'
  if (next.missingBlocks === null) return 'unreachable'
  if (next.pendingKey !== null) return 'pending'
  if (next.missingBlocks > 0) return 'waiting'
  return failures.some(({ step, isRollback }) => isRollback || step > last.step) ? 'failed' : 'ready'
}
