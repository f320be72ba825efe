/** The page of a transaction: where it is, what it did, its result, its events and its trace. */
import type { TransactionDetails } from '#ground/schema/lookup.ts'
import { element, make, write } from '../../kit/dom.ts'
import { groupDigits, timeOfDay } from '../../kit/numbers.ts'
import { askNode, textOfError } from './ask.ts'
import { CodeView } from './code-view.ts'
import { eventRow, type ResultEvent } from './event-row.ts'
import { oneAtATime, openFrame } from './frame.ts'
import { indent } from './json-text.ts'
import { accountLink, blockUrl, pagePlace } from './place.ts'
import { printedPart } from './printed.ts'
import { pathWith } from './query.ts'
import { stepLink } from './trace-link.ts'
import { type ShownStep, type ShownTrace, StepTree } from './trace-tree.ts'
import { briefValue, faultText, plainDecimal } from './value-text.ts'

interface CommandPayload {
  readonly payload: {
    readonly exec?: { readonly code: string; readonly data: unknown }
    readonly cont?: { readonly pactId: string; readonly step: number; readonly rollback: boolean }
  }
  readonly meta: { readonly sender: string; readonly gasLimit: number; readonly gasPrice: number }
  readonly signers: readonly {
    readonly pubKey: string
    readonly clist?: readonly { readonly name: string; readonly args: readonly unknown[] }[]
  }[]
}

interface ShownResult {
  readonly gas: number
  readonly result: {
    readonly status: string
    readonly data?: unknown
    readonly error?: { readonly message: string; readonly info?: string }
  }
  readonly events?: readonly ResultEvent[]
}

type ShownBlock = Omit<TransactionDetails['blocks'][number], 'result'> & { readonly result: ShownResult }

let requestKey = ''
/** JSON of the shown transaction: news of other blocks change nothing. */
let shown = ''
let code: CodeView | null = null

const refresh = oneAtATime(async () => {
  const key = requestKey
  try {
    const found = await askNode<TransactionDetails>(pathWith('/devnet/transaction', { requestKey: key }))
    if (key !== requestKey) return
    const text = JSON.stringify(found)
    if (text !== shown) await show(found, text)
  } catch (error) {
    shown = ''
    element('found').hidden = true
    write('trouble', textOfError(error))
  }
})

async function show(found: TransactionDetails, text: string): Promise<void> {
  shown = text
  write('trouble', '')
  element('found').hidden = false
  const block = found.blocks[0] as ShownBlock | undefined
  showCommand(JSON.parse(found.command.cmd) as CommandPayload, block?.chain ?? found.pendingOn ?? 0)
  showPlaces(found)
  showResult(block)
  write('whole', indent(JSON.stringify(found)))
  await showTrace(block)
}

function showPlaces({ blocks, pendingOn }: TransactionDetails): void {
  const rows = blocks.map(({ chain, height, hash, index, isOrphan, createdMs }) =>
    make(
      'li',
      isOrphan ? { 'data-outcome': 'orphaned' } : {},
      `chain ${chain} · height ${groupDigits(height)} · transaction ${index + 1} of its block · ${timeOfDay(createdMs)} `,
      make('a', { class: 'hash', href: blockUrl(chain, height, hash), title: hash }, hash),
      ...(isOrphan ? [' ', make('b', { class: 'outcome' }, 'orphaned')] : []),
    ),
  )
  if (pendingOn !== null) rows.push(make('li', {}, `waits in the mempool of chain ${pendingOn} for a block`))
  element('places').replaceChildren(...rows)
}

function showCommand({ payload, meta, signers }: CommandPayload, chain: number): void {
  const { exec, cont } = payload
  const { sender, gasLimit, gasPrice } = meta
  element('sender').replaceChildren(accountLink(sender))
  write('terms', `limit ${groupDigits(gasLimit)}, ${plainDecimal(gasPrice)} coins each`)
  write('chain', String(chain))
  code = new CodeView(exec?.code ?? `step ${cont?.step} of ${cont?.pactId}${cont?.rollback ? ', rolled back' : ''}`)
  element('code').replaceChildren(code.element)
  const data = exec?.data
  const hasData = typeof data === 'object' && data !== null && Object.keys(data).length > 0
  element('data-part').hidden = !hasData
  write('data', hasData ? indent(JSON.stringify(data)) : '')
  const rows = signers.map(({ pubKey, clist = [] }) => {
    const scopes = clist.map(({ name, args }) => make('code', {}, `(${[name, ...args.map(briefValue)].join(' ')})`))
    const scope = scopes.length === 0 ? ['everything in the command'] : scopes
    return make('li', {}, make('code', { class: 'hash' }, pubKey), make('span', { class: 'scopes' }, ...scope))
  })
  element('signers').replaceChildren(...rows)
  element('signers-none').hidden = rows.length > 0
}

function showResult(block: ShownBlock | undefined): void {
  const { result, gas, events = [] } = block?.result ?? {}
  const outcome = element('outcome')
  const status = result?.status ?? 'pending'
  const isOrphaned = result !== undefined && block?.isOrphan === true
  outcome.dataset.outcome = isOrphaned ? 'orphaned' : status
  write(outcome, isOrphaned ? `${status}, orphaned` : status)
  write('gas', gas === undefined ? '–' : groupDigits(gas))
  const { error, data } = result ?? {}
  const value = data === undefined ? 'None yet.' : briefValue(data)
  write('result', error === undefined ? value : faultText(error))
  element('result').dataset.outcome = error === undefined ? 'success' : 'failure'
  element('events').replaceChildren(...events.map((each) => eventRow(each)))
  element('events-none').hidden = events.length > 0
}

async function showTrace(block: ShownBlock | undefined): Promise<void> {
  const view = element('trace')
  const tools = element('trace-tools')
  tools.hidden = true
  if (block === undefined) {
    view.replaceChildren(make('p', { class: 'none' }, 'A transaction has a trace once it is in a block.'))
    return
  }
  view.replaceChildren(make('p', { class: 'none' }, 'executing it again'))
  try {
    const trace = await askNode<ShownTrace>('/devnet/trace', { requestKey, block: block.hash })
    const tree = new StepTree(trace.trace, (step) => stepLink(step, trace, showLine))
    view.replaceChildren(
      ...printedPart(trace.trace),
      ...tree.keysetsPart(),
      make(
        'div',
        { class: 'step head', 'aria-hidden': 'true' },
        ...['gas', 'own', 'step', 'code'].map((text, i) => make('span', { class: HEADS[i] }, text)),
      ),
      tree.element,
    )
    tools.hidden = false
    element('unfold').onclick = () => tree.unfoldAll()
    element('fold').onclick = () => tree.foldAll()
    const whole = element('whole-values')
    whole.setAttribute('aria-pressed', 'false')
    whole.onclick = () => {
      const isWhole = whole.getAttribute('aria-pressed') !== 'true'
      whole.setAttribute('aria-pressed', String(isWhole))
      tree.showWhole(isWhole)
    }
    element('next-error').onclick = () => tree.showNextError()
    element('next-error').hidden = trace.status !== 'failure' && !hasError(trace.trace)
    const left = trace.omitted === 0 ? '' : ` · ${groupDigits(trace.omitted)} more are left out`
    write('trace-note', `${groupDigits(trace.nodes)} steps${left}${trace.note === null ? '' : ` · ${trace.note}`}`)
    if (trace.status === 'failure') tree.showFailure()
  } catch (error) {
    view.replaceChildren(make('p', { class: 'none' }, textOfError(error)))
  }
}

const HEADS = ['gas total', 'gas own', 'what', 'at']

const hasError = (step: ShownStep): boolean => step.error !== undefined || step.children.some(hasError)

function showLine(line: number): void {
  code?.mark(line)
  element('code').scrollIntoView({ block: 'nearest' })
}

function open(): void {
  requestKey = decodeURIComponent(location.hash.slice(1)) || (pagePlace().get('requestKey') ?? '')
  shown = ''
  write('key', requestKey)
  element<HTMLInputElement>('wanted').value = requestKey
  element('found').hidden = true
  if (requestKey === '') write('trouble', 'Enter a request key, or choose a transaction from the list.')
  else {
    write('trouble', 'searching the blocks and mempools for it')
    refresh()
  }
}

element('find-form').addEventListener('submit', (event) => {
  event.preventDefault()
  location.hash = encodeURIComponent(element<HTMLInputElement>('wanted').value.trim())
})
addEventListener('hashchange', open)
openFrame({
  onStart: open,
  onChange: () => {
    if (requestKey !== '') refresh()
  },
})
