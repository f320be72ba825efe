/** The browser of modules: a list by chain, and a module with its interface, tables and code. */
import type { ModuleDetails, ModuleList } from '#ground/schema/lookup.ts'
import { element, fill, make, write } from '../../kit/dom.ts'
import { groupDigits } from '../../kit/numbers.ts'
import { askNode, textOfError } from './ask.ts'
import { CodeView } from './code-view.ts'
import { fillChains, openFrame } from './frame.ts'
import { interfaceOf } from './module-interface.ts'
import { moduleUrl, notePlace, pagePlace, transactionUrl } from './place.ts'
import { pathWith } from './query.ts'
import { TablePanel } from './table-panel.ts'

const VIEWS = ['interface', 'tables', 'code'] as const
type View = (typeof VIEWS)[number]

let modules: ModuleList | null = null
let shown: ModuleDetails | null = null
let code: CodeView | null = null
let hasTables = false
/** The first read of the list. */
let listing: Promise<void> = Promise.resolve()
/** Counts openings: answers to earlier ones are dropped. */
let opening = 0

const chain = () => Number(element<HTMLSelectElement>('chain').value)
const viewIn = (text: string | null): View => VIEWS.find((view) => view === text) ?? 'interface'

async function list(): Promise<void> {
  const wanted = chain()
  write('module-note', 'loading')
  try {
    const listed = await askNode<ModuleList>(pathWith('/devnet/modules', { chain: wanted }))
    if (wanted !== chain()) return
    modules = listed
    narrow()
  } catch (error) {
    modules = null
    element('modules').replaceChildren()
    write('module-note', textOfError(error))
  }
}

/** Shows the modules whose names contain all words of the search. */
function narrow(): void {
  if (modules === null) return
  const words = element<HTMLInputElement>('search').value.toLowerCase().split(/\s+/)
  const found = modules.modules.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
  const rowOf = ({ name, isFetched }: ModuleList['modules'][number]) =>
    make(
      'li',
      {},
      make('a', { href: moduleUrl(chain(), name) }, name),
      ...(isFetched ? [] : [make('span', { class: 'note' }, 'not fetched')]),
    )
  fill(element('modules'), found, ({ name, isFetched }) => `${chain()} ${name} ${isFetched}`, rowOf)
  markChosen()
  const count = `${groupDigits(found.length)} of ${groupDigits(modules.modules.length)}`
  write('module-note', [count, ...(modules.note === null ? [] : [modules.note])].join(' · '))
}

function markChosen(): void {
  for (const link of element('modules').querySelectorAll('a')) {
    if (link.textContent === shown?.name) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
}

/** Opens what the fragment names. */
async function open(): Promise<void> {
  const place = pagePlace()
  const number = ++opening
  const select = element<HTMLSelectElement>('chain')
  const wanted = place.get('chain') ?? '0'
  if (select.value !== wanted && [...select.options].some(({ value }) => value === wanted)) {
    select.value = wanted
    void list()
  }
  const name = place.get('module')
  if (name === null) return openFirst()
  if (shown?.name !== name || shown.chain !== chain()) {
    write('trouble', `loading ${name}`)
    try {
      const found = await askNode<ModuleDetails>(pathWith('/devnet/module', { chain: chain(), name }))
      if (number !== opening) return
      showModule(found)
      // On a fork, opening a module has fetched it.
      if (modules?.modules.some((each) => each.name === name && !each.isFetched)) void list()
    } catch (error) {
      if (number === opening) showNothing(textOfError(error))
      return
    }
  }
  showView(viewIn(place.get('view')))
  const line = Number(place.get('line'))
  if (line > 0) code?.mark(line)
  const hash = place.get('hash')
  const isOther = hash !== null && hash !== shown?.hash
  write('version', isOther ? `The trace ran version ${hash}. This is the current one: lines may differ.` : '')
}

/** Opens the module that was deployed last, else the one of coins. */
async function openFirst(): Promise<void> {
  write('trouble', 'looking for the newest module')
  await listing
  if (pagePlace().has('module')) return
  if (modules === null) return showNothing('Choose a module.')
  const wanted = pagePlace().get('chain')
  const { newest } = modules
  const isShown = newest !== null && (wanted === null || wanted === String(newest.chain))
  notePlace(isShown ? { chain: newest.chain, module: newest.name } : { chain: wanted ?? '0', module: 'coin' })
  await open()
}

function showNothing(text: string): void {
  shown = null
  element('module').hidden = true
  write('trouble', text)
  markChosen()
}

function showModule(found: ModuleDetails): void {
  shown = found
  write('trouble', '')
  element('module').hidden = false
  write('name', found.name)
  write('kind', found.kind)
  write('hash', found.hash)
  write('governance', found.governance ?? 'nobody: interfaces stay')
  element('deployed').replaceChildren(make('a', { href: transactionUrl(found.txHash), class: 'hash' }, found.txHash))
  const links = found.interfaces.map((each) => make('a', { href: moduleUrl(found.chain, each) }, each))
  element('implements').replaceChildren(...links.flatMap((link, i) => (i === 0 ? [link] : [', ', link])))
  element('implements-row').hidden = links.length === 0
  write('blessed', found.blessed.join(' '))
  element('blessed-row').hidden = found.blessed.length === 0
  write('doc', found.doc ?? '')
  element('interface').replaceChildren(...interfaceOf(found))
  hasTables = false
  element('tables').replaceChildren()
  code = new CodeView(found.code)
  element('code').replaceChildren(code.element)
  const count = found.tables.length
  write('tab-tables', count === 0 ? 'Tables' : `Tables · ${count}`)
  markChosen()
}

function showView(view: View): void {
  for (const each of VIEWS) {
    element(each).hidden = each !== view
    const tab = element(`tab-${each}`)
    tab.setAttribute('aria-selected', String(each === view))
    tab.tabIndex = each === view ? 0 : -1
  }
  if (view === 'tables') showTables()
}

function showTables(): void {
  if (hasTables || shown === null) return
  hasTables = true
  const { chain: of, name, tables } = shown
  const panels = tables.map((each) => new TablePanel(of, name, each).element)
  element('tables').replaceChildren(
    ...(panels.length === 0 ? [make('p', { class: 'none' }, `This ${shown.kind} has no tables.`)] : panels),
  )
}

function chooseView(view: View, hasFocus: boolean): void {
  notePlace({ chain: chain(), module: shown?.name, view: view === 'interface' ? null : view })
  write('version', '')
  showView(view)
  if (hasFocus) element(`tab-${view}`).focus()
}

for (const [i, view] of VIEWS.entries()) {
  const tab = element(`tab-${view}`)
  tab.addEventListener('click', () => chooseView(view, false))
  tab.addEventListener('keydown', ({ key }) => {
    const by = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? VIEWS.length - 1 : 0
    if (by > 0) chooseView(VIEWS[(i + by) % VIEWS.length], true)
  })
}
element('search').addEventListener('input', narrow)
addEventListener('hashchange', () => void open())

openFrame({
  onStart: ({ view }) => {
    fillChains('chain', view.heads.length, pagePlace().get('chain') ?? '0').addEventListener('change', () => {
      location.hash = new URLSearchParams({
        chain: String(chain()),
        ...(shown !== null && { module: shown.name }),
      }).toString()
      void list()
    })
    listing = list()
    void open()
  },
  onChange: (state, { transactions }) => {
    // A transaction may have deployed a module.
    if (transactions?.some(({ chain: of }) => of === chain()) && state.view.heads.length > 0) void list()
  },
})
