/** Controls pause, resume and the number of threads, for users with the miner's token. */
import { element, write } from '../../kit/dom.ts'
import type { Snapshot } from '../state.ts'

const ANSWER_MS = 10_000
/** Timeout of a change of threads, which run their self-test and kernel choice first. */
const THREADS_ANSWER_MS = 60_000

interface ControlRequest {
  readonly method: 'POST' | 'PUT'
  readonly path: string
  readonly body: unknown
  readonly limitMs: number
  /** Texts during and after the request. */
  readonly doing: string | null
  readonly done: string
}

export class ControlPanel {
  readonly #part = element('control')
  readonly #token = element<HTMLInputElement>('token')
  readonly #button = element<HTMLButtonElement>('control-button')
  readonly #threads = new ThreadsField((threads) => this.#setThreads(threads))
  #method: 'pause' | 'resume' = 'pause'

  constructor() {
    onSubmit('pause-form', () => this.#toggle())
  }

  show({ paused, devices }: Pick<Snapshot, 'paused' | 'devices'>): void {
    this.#part.hidden = false
    this.#method = paused ? 'resume' : 'pause'
    write(this.#button, paused ? 'Resume' : 'Pause')
    this.#threads.show(devices)
  }

  async #toggle(): Promise<void> {
    const method = this.#method
    this.#button.disabled = true
    await this.#send({
      method: 'POST',
      path: '/json_rpc',
      body: { jsonrpc: '2.0', id: 1, method },
      limitMs: ANSWER_MS,
      doing: null,
      done: method === 'pause' ? 'Mining is paused.' : 'Mining resumes.',
    })
    this.#button.disabled = false
  }

  #setThreads(threads: number): Promise<boolean> {
    const what = threads === 1 ? '1 CPU thread' : `${threads} CPU threads`
    return this.#send({
      method: 'PUT',
      path: '/2/config',
      body: { threads },
      limitMs: THREADS_ANSWER_MS,
      doing: `Switching to ${what}…`,
      done: `The miner now uses ${what}.`,
    })
  }

  /** Sends the order. @returns whether it succeeded */
  async #send({ method, path, body, limitMs, doing, done }: ControlRequest): Promise<boolean> {
    const token = this.#token.value.trim()
    if (token === '') {
      this.#tell('Enter the token from --http-token first.', true)
      return false
    }
    if (doing !== null) this.#tell(doing, false)
    try {
      const answer = await fetch(path, {
        method,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(limitMs),
      })
      const problem = await problemOf(answer)
      this.#tell(problem ?? done, answer.status === 401 || answer.status === 403)
      return problem === null
    } catch {
      this.#tell('The miner did not answer. Try again.', false)
      return false
    }
  }

  /** @param isOfToken whether the token is the problem */
  #tell(text: string, isOfToken: boolean): void {
    this.#token.setAttribute('aria-invalid', String(isOfToken))
    write('control-note', text)
  }
}

/** The number of CPU threads: the miner's, unless the user edits it. */
class ThreadsField {
  readonly #form = element<HTMLFormElement>('threads-form')
  readonly #input = element<HTMLInputElement>('threads')
  readonly #button = element<HTMLButtonElement>('threads-button')
  #present = 0
  #isEdited = false
  #isBusy = false

  /** @param set applies the number and resolves with whether it succeeded */
  constructor(set: (threads: number) => Promise<boolean>) {
    onSubmit('threads-form', async () => {
      this.#isBusy = true
      this.#refresh()
      const isDone = await set(this.#input.valueAsNumber)
      this.#isBusy = false
      // Keep a refused input for correction; otherwise show the miner's number again.
      if (isDone) this.#isEdited = false
      this.#refresh()
    })
    this.#input.addEventListener('input', () => this.#onEdit())
    for (const [id, step] of [
      ['threads-fewer', -1],
      ['threads-more', 1],
    ] as const) {
      element(id).addEventListener('click', () => {
        if (step < 0) this.#input.stepDown()
        else this.#input.stepUp()
        this.#onEdit()
      })
    }
  }

  show(devices: Snapshot['devices']): void {
    // An external worker has no threads of ours.
    this.#form.hidden = !devices.some(({ engine }) => engine === 'cpu' || engine === 'gpu')
    this.#present = devices.filter(({ engine }) => engine === 'cpu').length
    if (!this.#isEdited) this.#input.value = String(this.#present)
    this.#refresh()
  }

  #onEdit(): void {
    this.#isEdited = this.#input.value !== String(this.#present)
    this.#refresh()
  }

  #refresh(): void {
    this.#button.disabled = this.#isBusy || !this.#isEdited
  }
}

function onSubmit(form: string, run: () => Promise<void>): void {
  element<HTMLFormElement>(form).addEventListener('submit', (event) => {
    event.preventDefault()
    void run()
  })
}

/** @returns the problem in the answer, or null on success */
async function problemOf(answer: Response): Promise<string | null> {
  if (answer.status === 401) return 'The miner does not accept this token.'
  if (answer.status === 403) return 'This miner cannot be controlled: it runs without --http-token.'
  const text = await answer.text()
  const message = messageIn(text)
  if (!answer.ok) return `The miner refused: ${message ?? `status ${answer.status}`}.`
  return message === null ? null : `The miner refused: ${message}.`
}

/** Extracts the error message of an answer. */
function messageIn(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { readonly error?: string | { readonly message?: string } | null }
    if (error == null) return null
    return typeof error === 'string' ? error : (error.message ?? 'it gives no reason')
  } catch {
    // Without JSON, the status says enough.
    return null
  }
}
