/** The search field in the header of each page: it goes to the page of what a text names. */
import type { SearchAnswer, SearchHit } from '#ground/schema/lookup.ts'
import type { AccountView } from '#ground/schema/view.ts'
import { element, make } from '../../kit/dom.ts'
import { groupDigits, hashStart } from '../../kit/numbers.ts'
import { askNode, textOfError } from './ask.ts'
import { accountUrl, blockUrl, moduleUrl, shortAccount, transactionUrl } from './place.ts'
import { pathWith } from './query.ts'

/** Counts searches: the answer to an earlier one is dropped. */
let searches = 0

/**
 * Makes the field work: `/` focuses it, Enter searches, and Escape takes the answer away. The link to the content moves
 * the focus only, because the fragment of a page names its content.
 */
export function openSearchField(): void {
  document.querySelector('.skip')?.addEventListener('click', (event) => {
    event.preventDefault()
    element('content').focus()
  })
  const field = element<HTMLInputElement>('find-text')
  element('find').addEventListener('submit', (event) => {
    event.preventDefault()
    void search(field.value.trim())
  })
  element('find').addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') showAnswer()
  })
  field.addEventListener('input', () => showAnswer())
  addEventListener('hashchange', () => showAnswer())
  addEventListener('pointerdown', ({ target }) => {
    if (!(target instanceof Node && element('find').contains(target))) showAnswer()
  })
  addEventListener('keydown', (event) => {
    const { key, target, ctrlKey, metaKey, altKey } = event
    const isTyping = target instanceof Element && target.closest('input, textarea, select, dialog') !== null
    if (key !== '/' || isTyping || ctrlKey || metaKey || altKey) return
    event.preventDefault()
    field.focus()
    field.select()
  })
}

/** Suggests the accounts that the node shows. */
export function suggestNames(accounts: readonly AccountView[]): void {
  element('found-names').replaceChildren(...accounts.map(({ account }) => make('option', { value: account })))
}

async function search(text: string): Promise<void> {
  const number = ++searches
  if (text === '') return showAnswer()
  showAnswer('searching')
  try {
    const answer = await askNode<SearchAnswer>(pathWith('/devnet/search', { text }))
    if (number === searches) showFound(text, answer)
  } catch (error) {
    if (number === searches) showAnswer(textOfError(error))
  }
}

function showFound(text: string, { hits, guesses }: SearchAnswer): void {
  const [hit] = hits
  if (hits.length === 1) {
    showAnswer()
    // On the same page, `/` begins the next search.
    element('find-text').blur()
    location.assign(hitUrl(hit))
  } else if (hits.length > 1) {
    const areBlocks = hits.every(({ kind }) => kind === 'block') && !/[^\d,]/.test(text)
    showAnswer(`${hits.length} ${areBlocks ? 'blocks have this height' : 'things are called so'}: `, linksTo(hits))
  } else if (guesses.length > 0) {
    showAnswer(`Nothing here is called ${briefText(text)}. Did you mean `, linksTo(guesses))
  } else if (/^[\d,]+$/.test(text)) {
    showAnswer(`No chain has reached height ${text} yet, and no account is called so.`)
  } else {
    showAnswer(
      `Nothing here is called ${briefText(text)}: no account, no module, no block, and no transaction in a block or a mempool.`,
    )
  }
}

const briefText = (text: string) => `“${text.length > 60 ? `${text.slice(0, 60)}…` : text}”`

function showAnswer(...content: readonly (Node | string)[]): void {
  if (content.length === 0) searches++
  const answer = element('find-answer')
  answer.hidden = content.length === 0
  answer.replaceChildren(...content)
}

function linksTo(hits: readonly SearchHit[]): HTMLElement {
  const rows = hits.map((hit) => make('li', {}, make('a', { href: hitUrl(hit), title: hit.name }, hitText(hit))))
  return make('ul', {}, ...rows)
}

function hitUrl({ kind, name, chain, height }: SearchHit): string {
  if (kind === 'account') return accountUrl(name)
  if (kind === 'transaction') return transactionUrl(name)
  return kind === 'module' ? moduleUrl(chain ?? 0, name) : blockUrl(chain ?? 0, height ?? 0, name)
}

function hitText({ kind, name, chain, height }: SearchHit): string {
  if (kind === 'block') return `chain ${chain}, height ${groupDigits(height ?? 0)}`
  return `${kind} ${kind === 'transaction' ? hashStart(name) : kind === 'account' ? shortAccount(name) : name}`
}
