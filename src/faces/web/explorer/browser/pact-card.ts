/** A pact in the list: its steps with links, what it waits for, and the buttons that go on with it. */
import type { ListedPact, ListedStep, PactFailure } from '#ground/schema/pacts.ts'
import { fill, make, write } from '../../kit/dom.ts'
import { groupDigits, timeOfDay } from '../../kit/numbers.ts'
import { textOfError } from './ask.ts'
import { isTransferName } from './complete.ts'
import { isCrossing, nextText, pactOutcome, pactTitle } from './pact-text.ts'
import { fragment, transactionLink } from './place.ts'

export interface PactActions {
  /** Runs the next step, or rolls back the last one. */
  readonly onContinue: (pact: ListedPact, isRollback: boolean, onTold: (text: string) => void) => Promise<void>
  readonly onMakeBlocks: (chain: number, count: number) => Promise<void>
  /** Whether the page may change anything. */
  readonly mayControl: () => boolean
}

const button = (text: string) => make('button', { type: 'button', class: 'small' }, text)

/** Updates texts and buttons in place, so that news of blocks do not move the focus. */
export class PactCard {
  readonly element = make('li', { class: 'pact' })
  readonly #actions: PactActions
  readonly #title = make('h3', { class: 'pact-title' })
  readonly #outcome = make('b', { class: 'outcome' })
  readonly #track = make('ol', { class: 'track' })
  readonly #next = make('p', { class: 'note' })
  readonly #complete = button('')
  readonly #rollback = button('Roll back')
  readonly #blocks = button('')
  readonly #form = make('a', { class: 'button small' }, 'Open in the form')
  readonly #told = make('p', { class: 'note', role: 'status' })
  readonly #pending = make('p', { class: 'note' })
  #pact: ListedPact | null = null
  #isBusy = false

  constructor(actions: PactActions) {
    this.#actions = actions
    this.#complete.addEventListener('click', () => void this.#continue(false))
    this.#rollback.addEventListener('click', () => void this.#continue(true))
    this.#blocks.addEventListener('click', () => void this.#makeBlocks())
    const row = make('p', { class: 'row' }, this.#complete, this.#rollback, this.#blocks, this.#form)
    const head = make('div', { class: 'pact-head' }, this.#title, this.#outcome)
    this.element.append(head, this.#track, this.#next, this.#pending, row, this.#told)
  }

  show(pact: ListedPact): void {
    const before = this.#pact
    this.#pact = pact
    const { next, state } = pact
    // The title of a pact does not change, and its links may have the focus.
    if (before === null) this.#title.replaceChildren(...pactTitle(pact))
    const { text, outcome } = pactOutcome(pact)
    this.element.dataset.outcome = outcome
    this.#outcome.dataset.outcome = outcome
    write(this.#outcome, text)
    fill(
      this.#track,
      attemptsOf(pact),
      (each) => `${each.requestKey} ${each.block}`,
      (each) => attemptRow(pact, each),
    )
    write(this.#next, nextText(pact))
    const pendingKey = next?.pendingKey ?? null
    if (pendingKey !== before?.next?.pendingKey) {
      this.#pending.replaceChildren(...(pendingKey === null ? [] : ['pending: ', transactionLink(pendingKey)]))
    }
    // A step that ran, or another one that is next, makes the last message old.
    if (before !== null && before.steps.length !== pact.steps.length) write(this.#told, '')
    this.#showButtons(pact, state === 'ready' || state === 'failed')
  }

  #showButtons({ name, next, state, pactId }: ListedPact, isOpen: boolean): void {
    const focused = this.element.contains(document.activeElement) ? document.activeElement : null
    const mayControl = this.#actions.mayControl()
    const missing = state === 'waiting' ? (next?.missingBlocks ?? 0) : state === 'pending' ? 1 : 0
    this.#complete.hidden = !isOpen
    this.#rollback.hidden = !isOpen || next?.hasRollback !== true
    this.#blocks.hidden = missing === 0 || !mayControl
    this.#form.hidden = !isOpen
    // A disabled button would lose the focus.
    for (const each of [this.#complete, this.#rollback, this.#blocks]) each.ariaDisabled = String(this.#isBusy)
    write(this.#complete, isTransferName(name) ? 'Complete the transfer' : `Run step ${next?.step ?? ''}`)
    write(this.#blocks, missing === 1 ? 'Make a block' : `Make ${missing} blocks`)
    const { step, chain, proofOf } = next ?? {}
    const place = { chain, pact: pactId, step, source: proofOf?.chain, key: proofOf?.requestKey }
    this.#form.href = `/explorer/send${fragment(place)}`
    // A button that has gone leaves the focus to the first link of its pact.
    if (focused instanceof HTMLElement && focused.hidden) this.#track.querySelector('a')?.focus()
  }

  async #continue(isRollback: boolean): Promise<void> {
    const pact = this.#pact
    if (pact === null) return
    await this.#run(() => this.#actions.onContinue(pact, isRollback, (text) => write(this.#told, text)))
  }

  async #makeBlocks(): Promise<void> {
    const { next, state } = this.#pact ?? {}
    if (!next) return
    await this.#run(() => this.#actions.onMakeBlocks(next.chain, state === 'pending' ? 1 : (next.missingBlocks ?? 0)))
  }

  async #run(action: () => Promise<void>): Promise<void> {
    if (this.#isBusy) return
    this.#isBusy = true
    if (this.#pact !== null) this.show(this.#pact)
    delete this.#told.dataset.outcome
    write(this.#told, '')
    try {
      await action()
      write(this.#told, '')
    } catch (error) {
      this.#told.dataset.outcome = 'failure'
      write(this.#told, textOfError(error))
    } finally {
      this.#isBusy = false
      if (this.#pact !== null) this.show(this.#pact)
    }
  }
}

type Attempt = ListedStep | PactFailure

/** Steps and failed attempts, as they came. */
function attemptsOf({ steps, failures }: ListedPact): Attempt[] {
  return [...steps, ...failures].sort((a, b) => a.createdMs - b.createdMs || a.step - b.step)
}

function attemptRow(pact: ListedPact, attempt: Attempt): HTMLElement {
  const { requestKey, chain, height, createdMs } = attempt
  const isFailed = 'fault' in attempt
  return make(
    'li',
    { class: 'attempt', ...(isFailed && { 'data-outcome': 'failure' }) },
    make('b', {}, attemptWord(pact, attempt)),
    ' ',
    make('span', { class: 'place' }, `chain ${chain} · height ${groupDigits(height)} · ${timeOfDay(createdMs)}`),
    ' ',
    transactionLink(requestKey),
    ...(isFailed ? [make('span', { class: 'fault' }, attempt.fault)] : []),
  )
}

function attemptWord(pact: ListedPact, attempt: Attempt): string {
  const { step, isRollback } = attempt
  if ('fault' in attempt) return isRollback ? 'rollback failed' : 'failed'
  if (isRollback) return 'rolled back'
  if (!isTransferName(pact.name) || !isCrossing(pact)) return `step ${step}`
  return step === 0 ? 'burnt' : 'claimed'
}
