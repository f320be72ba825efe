/** Words for pacts: what one does, and how far it is. */
import type { ListedPact, PactProgress } from '#ground/schema/pacts.ts'
import { isTransferName } from './complete.ts'
import { accountLink } from './place.ts'
import { briefValue } from './value-text.ts'

/** Arguments of `transfer-crosschain`: sender, receiver, guard, target chain, amount. */
const TRANSFER_ARGS = 5

/** Title of a pact: a transfer in words with links to its accounts, any other one as code. */
export function pactTitle({ name, args, steps }: ListedPact): (HTMLElement | string)[] {
  if (!isTransferName(name) || args.length !== TRANSFER_ARGS) return [`(${[name, ...args.map(briefValue)].join(' ')})`]
  const [from, to, , target, amount] = args
  const token = name.slice(0, name.lastIndexOf('.'))
  const what = `${briefValue(amount)} ${token === 'coin' ? 'coins' : `of ${token}`}: `
  const place = ` · chain ${steps[0]?.chain} → ${String(target)}`
  return [what, accountLink(String(from)), ' → ', accountLink(String(to)), place]
}

/** Whether a pact has changed its chain, or is about to. */
export const isCrossing = ({ steps }: ListedPact) =>
  steps.some(({ chain, targetChain }) => targetChain !== null && targetChain !== chain)

const CROSSING: Readonly<Record<PactProgress, string>> = {
  waiting: 'waits for its proof',
  ready: 'proof ready',
  pending: 'claim pending',
  failed: 'claim failed',
  unreachable: 'no such chain',
  finished: 'claimed',
  'rolled back': 'rolled back',
}
const OTHER: Readonly<Record<PactProgress, string>> = {
  ...CROSSING,
  ready: 'next step open',
  pending: 'next step pending',
  failed: 'step failed',
  finished: 'finished',
}
/** Values of `data-outcome`, which gives words their colour. */
const OUTCOMES: Readonly<Record<PactProgress, string>> = {
  waiting: 'waiting',
  ready: 'ready',
  pending: 'waiting',
  failed: 'failure',
  unreachable: 'failure',
  finished: 'success',
  'rolled back': 'orphaned',
}

/** The state of a pact in words, and as a value for the style sheet. */
export function pactOutcome(pact: ListedPact): { readonly text: string; readonly outcome: string } {
  return { text: (isCrossing(pact) ? CROSSING : OTHER)[pact.state], outcome: OUTCOMES[pact.state] }
}

/** Says which chain runs the next step, and what it waits for. */
export function nextText(pact: ListedPact): string {
  const { next, stepCount, state } = pact
  if (next === null) return ''
  const { chain, step, missingBlocks, proofOf } = next
  if (missingBlocks === null) return `This network has no chain ${chain}, so nobody can run step ${step}.`
  if (missingBlocks > 0) {
    return `Chain ${chain} lacks ${missingBlocks} ${missingBlocks === 1 ? 'block' : 'blocks'} until the proof exists.`
  }
  if (state === 'pending') return `The next step waits for a block of chain ${chain}.`
  const proof = proofOf === null ? '' : 'The proof exists. '
  const place = step + 1 === stepCount ? 'the last one' : `of steps 0 to ${stepCount - 1}`
  return `${proof}Chain ${chain} can run step ${step}, ${place}.`
}
