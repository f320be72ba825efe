/** Shows one operation: parameters, a button to call it, the answer, and the call for a terminal. */
import { make, write } from '../../kit/dom.ts'
import { exampleOf, type OpenApi, type OpenApiOperation, type Parameter } from './api-example.ts'
import { curlText } from './call.ts'
import { indent } from './json-text.ts'

const MAX_SHOWN = 200_000

export interface Shown {
  readonly method: string
  readonly path: string
  readonly operation: OpenApiOperation
  readonly named: OpenApi['components']['schemas']
  /** Initial values by parameter name. */
  readonly known: Readonly<Record<string, string>>
}

/** Creates a collapsible row. Its content is created on first opening. */
export function operationRow(shown: Shown): HTMLDetailsElement {
  const { method, path, operation } = shown
  const row = make(
    'details',
    { class: 'operation', id: operation.operationId },
    make(
      'summary',
      {},
      make('b', { class: `verb ${method.toLowerCase()}` }, method),
      make('code', {}, path),
      make('span', { class: 'note' }, operation.summary),
    ),
  )
  row.addEventListener('toggle', () => row.append(new Caller(shown).form), { once: true })
  return row
}

class Caller {
  readonly form = make('form', { class: 'call' })
  readonly #shown: Shown
  readonly #inputs: readonly (readonly [Parameter, HTMLInputElement])[]
  readonly #body: HTMLTextAreaElement | null
  readonly #type: string
  readonly #curl = make('code', { class: 'curl' })
  readonly #told = make('p', { class: 'told', role: 'status' })
  readonly #answer = make('pre', { tabindex: '0', 'aria-label': 'answer' })
  readonly #send = make('button', { type: 'submit' }, 'Send')
  #running: AbortController | null = null

  constructor(shown: Shown) {
    const { operation, method } = shown
    this.#shown = shown
    this.#inputs = operation.parameters.map((each) => [each, this.#input(each)] as const)
    const [type = ''] = Object.keys(operation.requestBody?.content ?? {})
    this.#type = type
    this.#body = operation.requestBody === undefined ? null : this.#bodyField()
    this.#answer.hidden = true
    const canSend = type === '' || (method !== 'GET' && type === 'application/json')
    this.#send.disabled = !canSend
    if (!canSend) write(this.#told, 'Browsers cannot send this body. Call it from a terminal or a program.')
    this.form.append(
      ...this.#inputs.map(([parameter, input]) => labelOf(parameter, input)),
      ...(this.#body === null ? [] : [make('label', {}, make('span', {}, `body · ${type}`), this.#body)]),
      make('div', { class: 'row' }, this.#send, this.#curl),
      this.#told,
      this.#answer,
      answersOf(operation),
    )
    this.form.addEventListener('input', () => this.#showCurl())
    this.form.addEventListener('submit', (event) => {
      event.preventDefault()
      if (this.#running === null) void this.#run()
      else this.#running.abort()
    })
    this.#showCurl()
  }

  #input({ name, required }: Parameter): HTMLInputElement {
    const input = make('input', { name, autocomplete: 'off', spellcheck: 'false' })
    input.required = required
    input.value = required ? (this.#shown.known[name] ?? '') : ''
    return input
  }

  #bodyField(): HTMLTextAreaElement {
    const field = make('textarea', { rows: '5', spellcheck: 'false' })
    const { operation, named } = this.#shown
    const schema = operation.requestBody?.content[this.#type]?.schema
    if (this.#type === 'application/json' && schema) {
      field.value = indent(JSON.stringify(exampleOf(schema, named)))
    }
    field.rows = Math.min(14, Math.max(2, field.value.split('\n').length))
    return field
  }

  get #path(): string {
    let { path } = this.#shown
    const query = new URLSearchParams()
    for (const [{ name, in: place }, { value }] of this.#inputs) {
      if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value))
      else if (value !== '') query.set(name, value)
    }
    const text = query.toString()
    return text === '' ? path : `${path}?${text}`
  }

  #showCurl(): void {
    const body = this.#body?.value.replace(/\n\s*/g, '')
    write(this.#curl, curlText(this.#shown.method, this.#path, body, this.#type))
  }

  async #run(): Promise<void> {
    const { method } = this.#shown
    const running = new AbortController()
    this.#running = running
    write(this.#send, 'Stop')
    this.#answer.hidden = true
    write(this.#told, 'waiting for the node')
    const startMs = performance.now()
    try {
      const init: RequestInit = { method, signal: running.signal, cache: 'no-store' }
      if (this.#body !== null) Object.assign(init, { body: this.#body.value, headers: { 'content-type': this.#type } })
      const answer = await fetch(this.#path, init)
      const type = answer.headers.get('content-type') ?? 'no content'
      const ms = Math.round(performance.now() - startMs)
      this.#told.dataset.outcome = answer.ok ? 'done' : 'refused'
      write(this.#told, `${answer.status} ${answer.statusText} · ${type} · ${ms} ms`)
      await this.#read(answer, type)
    } catch {
      this.#told.dataset.outcome = running.signal.aborted ? 'done' : 'refused'
      write(this.#told, running.signal.aborted ? 'stopped' : 'the node does not answer')
    } finally {
      this.#running = null
      write(this.#send, 'Send')
    }
  }

  /** Shows a body while it arrives, because streams do not end. */
  async #read(answer: Response, type: string): Promise<void> {
    if (type.startsWith('application/octet-stream')) {
      const bytes = new Uint8Array(await answer.arrayBuffer())
      return this.#show([...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(''))
    }
    const isStream = type.startsWith('text/event-stream')
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    for (;;) {
      const part = await reader?.read()
      if (part === undefined || part.done) break
      text += part.value
      if (isStream) this.#show(text.slice(-MAX_SHOWN))
    }
    if (!isStream) this.#show(type.startsWith('application/json') ? indent(text) : text)
  }

  #show(text: string): void {
    this.#answer.hidden = text === ''
    write(this.#answer, text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}\n… (${text.length} characters)` : text)
  }
}

function labelOf({ name, in: place, required, description }: Parameter, input: HTMLInputElement): HTMLElement {
  const note = [place, required ? '' : 'optional', description ?? ''].filter((each) => each !== '').join(' · ')
  return make('label', {}, make('span', {}, make('code', {}, name), ` ${note}`), input)
}

/** Lists the possible answers. */
function answersOf({ responses }: OpenApiOperation): HTMLElement {
  const rows = Object.entries(responses).map(([status, { description, content = {} }]) => {
    return make(
      'li',
      {},
      make('b', {}, status),
      ` ${description}`,
      make('span', { class: 'note' }, Object.keys(content).join(', ')),
    )
  })
  return make('details', { class: 'answers' }, make('summary', {}, 'possible answers'), make('ul', {}, ...rows))
}
