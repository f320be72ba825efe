/** The list of transfers between chains and of other pacts, unfinished ones first. */
import type { ListedPact, PactPage } from '#ground/schema/pacts.ts'
import { element, fill, write } from '../../kit/dom.ts'
import { groupDigits } from '../../kit/numbers.ts'
import { askNode } from './ask.ts'
import { sendNextStep } from './complete.ts'
import { FieldFault } from './field-fault.ts'
import { markFields, readPayer, unmarkOnInput } from './fields.ts'
import { oneAtATime, openFrame, troubleIn } from './frame.ts'
import { Keyring } from './keyring.ts'
import { PactCard } from './pact-card.ts'
import { notePlace, pagePlace } from './place.ts'
import { pathWith } from './query.ts'
import { showSigning, suggestSigners, takeAccounts } from './signers.ts'
import type { NodeState } from './state.ts'

/** Shortest time between two reads of the list, in milliseconds: busy networks have news all the time. */
const PAUSE_MS = 250
/** Time between two reads while a step is pending. The node tells no news of one that came and went within 100 ms. */
const PENDING_MS = 1000

let state: NodeState | null = null
/** Counts reads of the list. An answer is dropped if a later read has been shown. */
let reads = 0
let shownRead = 0
/** Pages of the list that are shown. */
let pages = 1
let renewal: ReturnType<typeof setTimeout> | undefined
const cards = new WeakMap<Element, PactCard>()
const keyring: Keyring = new Keyring(() => suggestSigners(keyring))
const onlyOpen = element<HTMLInputElement>('open')

/** @throws FieldFault, after it has marked the field */
function payerNow(): string {
  try {
    return readPayer('payer')
  } catch (error) {
    if (error instanceof FieldFault) markFields(error)
    throw error
  }
}

const actions = {
  mayControl: () => state?.view.status !== undefined,
  onContinue: async (pact: ListedPact, isRollback: boolean, onTold: (text: string) => void) => {
    const { next } = pact
    if (state === null || next === null) return
    const { view } = state
    await sendNextStep({ pact, next, isRollback, payer: payerNow() }, { view, keyring }, onTold)
    await read()
  },
  onMakeBlocks: async (chain: number, count: number) => {
    await askNode('/devnet/make-blocks', { [chain]: count })
  },
}

/** Reads all pages that are shown, however many blocks the node must search first. */
async function read(): Promise<void> {
  const wanted = pages
  const started = ++reads
  const found: ListedPact[] = []
  let next: string | null | undefined
  let page: PactPage
  let number = 0
  do {
    page = await askNode<PactPage>(pathWith('/devnet/pacts', { open: onlyOpen.checked ? 'true' : null, next }))
    if (page.unread > 0) {
      write('told', `${groupDigits(page.unread)} blocks are left to search`)
      continue
    }
    found.push(...page.pacts)
    next = page.next
    number++
  } while (page.unread > 0 || (number < wanted && next !== null))
  if (started < shownRead) return
  shownRead = started
  show(found, page)
}

function show(found: readonly ListedPact[], { open, finished, next }: PactPage): void {
  fill(
    element('pacts'),
    found,
    ({ pactId }) => pactId,
    () => {
      const card = new PactCard(actions)
      cards.set(card.element, card)
      return card.element
    },
    (child, pact) => cards.get(child)?.show(pact),
  )
  clearTimeout(renewal)
  if (found.some(({ state }) => state === 'pending')) renewal = setTimeout(refresh, PENDING_MS)
  element('more').hidden = next === null
  element('none').hidden = found.length > 0
  write('told', `${groupDigits(open)} unfinished, ${groupDigits(finished)} finished`)
}

const refresh = oneAtATime(async () => {
  await read().catch(troubleIn('told'))
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
})

suggestSigners(keyring)
onlyOpen.addEventListener('change', () => {
  pages = 1
  notePlace({ open: onlyOpen.checked ? 'true' : null })
  refresh()
})
element('more').addEventListener('click', () => {
  pages++
  refresh()
})
unmarkOnInput(element('filters'))
element('filters').addEventListener('submit', (event) => event.preventDefault())

openFrame({
  onStart: (now) => {
    state = now
    onlyOpen.checked = pagePlace().get('open') === 'true'
    showSigning(keyring, now.view.status)
    takeAccounts(keyring, now.view, 'told')
    refresh()
  },
  onChange: (now, { heads, blocks, pool, status }) => {
    state = now
    if (status !== undefined) showSigning(keyring, now.view.status)
    if (heads !== undefined || blocks !== undefined || pool !== undefined) refresh()
  },
})
