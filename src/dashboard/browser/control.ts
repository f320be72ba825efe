/** Pausing and going on, for those who have the token of the miner. */
import type { Snapshot } from '../state.ts'
import { element, write } from './dom.ts'

const PATH = '/json_rpc'
const ANSWER_MS = 10_000

export class Control {
  readonly #form = element<HTMLFormElement>('control')
  readonly #token = element<HTMLInputElement>('token')
  readonly #button = element<HTMLButtonElement>('control-button')
  #method: 'pause' | 'resume' = 'pause'

  constructor() {
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault()
      void this.#send()
    })
  }

  show({ paused }: Pick<Snapshot, 'paused'>): void {
    this.#form.hidden = false
    this.#method = paused ? 'resume' : 'pause'
    write(this.#button, paused ? 'Resume' : 'Pause')
  }

  async #send(): Promise<void> {
    const method = this.#method
    const token = this.#token.value.trim()
    if (token === '') return this.#tell('Enter the token that the miner was started with.', true)
    this.#button.disabled = true
    try {
      const answer = await fetch(PATH, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method }),
        signal: AbortSignal.timeout(ANSWER_MS),
      })
      const problem = await problemOf(answer)
      this.#tell(problem ?? (method === 'pause' ? 'The miner pauses.' : 'The miner goes on.'), problem !== null)
    } catch {
      this.#tell('The miner did not answer. Try again.', true)
    } finally {
      this.#button.disabled = false
    }
  }

  #tell(text: string, isProblem: boolean): void {
    this.#token.setAttribute('aria-invalid', String(isProblem))
    write('control-note', text)
  }
}

/** null: it was done. */
async function problemOf(answer: Response): Promise<string | null> {
  if (answer.status === 401) return 'The miner refuses this token.'
  if (answer.status === 403) return 'The miner takes no orders: it was started without --http-token.'
  const text = await answer.text()
  const message = messageIn(text)
  if (!answer.ok) return `The miner refuses: ${message ?? `status ${answer.status}`}.`
  return message === null ? null : `The miner refuses: ${message}.`
}

/** The message of an error in an answer of JSON-RPC. */
function messageIn(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { readonly error?: string | { readonly message?: string } | null }
    if (error == null) return null
    return typeof error === 'string' ? error : (error.message ?? 'it gives no reason')
  } catch {
    // No JSON: the status says enough.
    return null
  }
}
