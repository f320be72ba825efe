/** Sends control requests to the node: each form posts to /devnet/*, and shows the answer and the call. */
import { formatDuration } from '#ground/base/units.ts'
import type { FaultRequest } from '#ground/schema/control.ts'
import { element, fill, make, write } from '../../kit/dom.ts'
import { timeOfDay } from '../../kit/numbers.ts'
import { callNode, curlText } from './call.ts'
import { SnapshotPanel } from './snapshots.ts'
import type { NodeState } from './state.ts'

type Body = Readonly<Record<string, unknown>>

const HEALTHY = 300
/** Tolerance for a node clock that runs slightly ahead under load. */
const CLOCK_NOISE_MS = 1000

export class NodeControls {
  #chains = 0
  #aheadMs = 0
  /** Node clock minus browser clock, in milliseconds. */
  #skewMs = 0
  #paused: readonly number[] = []
  readonly #snapshots = new SnapshotPanel()

  constructor() {
    this.#onSubmit('blocks-form', (form) => {
      const count = Number(form.get('count'))
      const chain = String(form.get('chain'))
      const chains = chain === 'all' ? Array.from({ length: this.#chains }, (_, i) => i) : [Number(chain)]
      return ['make-blocks', Object.fromEntries(chains.map((each) => [each, count]))]
    })
    this.#onSubmit('fork-form', (form) => [
      'fork',
      { chain: Number(form.get('chain')), depth: Number(form.get('depth')) },
    ])
    this.#onSubmit('difficulty-form', (form) => ['difficulty', { difficulty: String(form.get('difficulty')) }])
    this.#onSubmit('delay-form', (form) => ['block-delay', { blockDelayMs: 1000 * Number(form.get('seconds')) }])
    this.#onSubmit('clock-form', (form, direction) => {
      const byMs = 1000 * Number(form.get('seconds'))
      return ['clock', { advanceMs: direction === 'back' ? -byMs : byMs }]
    })
    this.#onSubmit('snapshot-form', () => ['snapshot', {}])
    this.#onSubmit('revert-form', (form) => ['revert', { id: Number(form.get('id')) }])
    this.#onSubmit('faults-form', (form) => ['faults', faultOf(form)])
    this.#onSubmit('streams-form', (form, action) => ['streams', { action, stream: String(form.get('stream')) }])
    for (const [id, request] of [
      ['pause-all', 'pause'],
      ['resume-all', 'resume'],
    ]) {
      element(id).addEventListener('click', () => void this.#sendEach(request))
    }
    element('faults-details').addEventListener('toggle', () => void listOperations(), { once: true })
  }

  /** The node's clock, or the browser's if the node does not report one. */
  get nowMs(): number {
    return Date.now() + this.#skewMs
  }

  show({ view: { status, heads } }: NodeState): void {
    const isOurs = status !== undefined
    element('control').hidden = !isOurs
    element('no-control').hidden = isOurs
    this.#choices(heads.length)
    if (!isOurs) return
    showImpersonation(status.impersonated)
    this.#skewMs = status.clock.aheadMs
    this.#aheadMs = status.clock.aheadMs
    this.#showPaused(status.paused)
    this.#showFaults(status.faults)
    this.#snapshots.show(status.snapshots)
    const { open, stalled } = status.streams
    const counts = Object.entries(open).map(([kind, count]) => `${kind} ${count}`)
    write('streams-state', `open: ${counts.join(', ')}${stalled.length > 0 ? ` · stalled: ${stalled.join(', ')}` : ''}`)
  }

  tick(): void {
    const ahead =
      this.#aheadMs < CLOCK_NOISE_MS ? 'same as this machine' : `${formatDuration(this.#aheadMs)} ahead of this machine`
    write('clock-state', `${timeOfDay(this.nowMs)} · ${ahead}`)
  }

  #choices(chains: number): void {
    if (chains === this.#chains) return
    this.#chains = chains
    const options = () => Array.from({ length: chains }, (_, i) => make('option', { value: String(i) }, `chain ${i}`))
    element('blocks-chain').replaceChildren(make('option', { value: 'all' }, 'every chain'), ...options())
    element('fork-chain').replaceChildren(...options())
    const toggles = Array.from({ length: chains }, (_, chain) => {
      const toggle = make(
        'button',
        { type: 'button', class: 'chip', 'aria-label': `pause chain ${chain}` },
        String(chain),
      )
      toggle.addEventListener('click', () => {
        void this.#send(this.#paused.includes(chain) ? 'resume' : 'pause', { chain })
      })
      return toggle
    })
    element('paused').replaceChildren(...toggles)
  }

  #showPaused(paused: readonly number[]): void {
    this.#paused = paused
    for (const [chain, chip] of [...element('paused').children].entries()) {
      chip.setAttribute('aria-pressed', String(paused.includes(chain)))
    }
    const text = paused.length === 0 ? 'all chains are mined' : `paused: ${paused.join(', ')}`
    write('paused-state', text)
  }

  #showFaults(faults: readonly FaultRequest[]): void {
    write('faults-state', faults.length === 0 ? 'none is set' : '')
    const rowOf = ({ operation, count, status, delayMs }: FaultRequest) => {
      const what = [status, delayMs === undefined ? '' : `after ${delayMs} ms`].filter((each) => each).join(' ')
      const clear = make('button', { type: 'button', class: 'small', 'aria-label': `clear ${operation}` }, 'Clear')
      clear.addEventListener('click', () => void this.#send('faults', { operation, count: 0 }))
      return make('li', {}, make('code', {}, operation), make('span', {}, `${count} × ${what}`), clear)
    }
    fill(element('faults'), faults, (each) => JSON.stringify(each), rowOf)
  }

  /** Sends one control request per changed chain. */
  async #sendEach(action: string): Promise<void> {
    const chains = Array.from({ length: this.#chains }, (_, i) => i)
    const changed = chains.filter((chain) => this.#paused.includes(chain) === (action === 'resume'))
    for (const chain of changed) await this.#send(action, { chain })
  }

  #onSubmit(id: string, orderOf: (form: FormData, action: string) => readonly [string, Body]): void {
    const form = element<HTMLFormElement>(id)
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      const button = event.submitter as HTMLButtonElement | null
      void this.#send(...orderOf(new FormData(form), button?.value ?? ''), button)
    })
  }

  async #send(name: string, body: Body, button: HTMLButtonElement | null = null): Promise<void> {
    const path = `/devnet/${name}`
    const json = JSON.stringify(body)
    const output = element('answer')
    element('answer-box').hidden = false
    write('call', curlText('POST', path, json))
    output.dataset.outcome = 'waiting'
    write(output, `${name}: waiting for the node`)
    if (button !== null) button.disabled = true
    try {
      const { status, text, ms } = await callNode('POST', path, json)
      output.dataset.outcome = status < HEALTHY ? 'done' : 'refused'
      if (name === 'snapshot' && status < HEALTHY) this.#snapshots.onTaken(text)
      const told = status < HEALTHY ? `done in ${formatDuration(ms)}` : `${status} ${text}`
      write(output, `${name}: ${told}`)
    } catch {
      output.dataset.outcome = 'refused'
      write(output, `${name}: the node does not answer`)
    } finally {
      if (button !== null) button.disabled = false
      // The last snapshot may have gone before the answer came.
      if (name === 'revert') this.#snapshots.enable()
    }
  }
}

function faultOf(form: FormData): Body {
  const [status, delayMs] = [String(form.get('status')), String(form.get('delay'))]
  return {
    operation: String(form.get('operation')),
    count: Number(form.get('count')),
    ...(status !== '' && { status: Number(status) }),
    ...(delayMs !== '' && { delayMs: Number(delayMs) }),
  }
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId: string; tags: readonly string[] }>>>>
}

/** Lists the operations that can have a fault, from the node's description. */
async function listOperations(): Promise<void> {
  const { text } = await callNode('GET', '/openapi.json')
  const operations = Object.values((JSON.parse(text) as OpenApi).paths).flatMap((path) => Object.values(path))
  const names = operations.filter(({ tags }) => !tags.includes('devnet')).map(({ operationId }) => operationId)
  element('faults-operation').replaceChildren(...names.map((name) => make('option', { value: name }, name)))
}

function showImpersonation(keys: readonly string[]): void {
  element('impersonation').hidden = keys.length === 0
  const whose = keys.includes('*') ? 'of any key' : `of ${keys.join(', ')}`
  write('impersonation', `Signatures ${whose} are not checked.`)
}
