/** What the visitor sees: writes values into the elements of mine.html. */
import { formatDuration, formatHashrate, withPrefix } from '../../../core/units.ts'
import type { Verdict } from './gateway.ts'
import type { WorkShown } from './miner.ts'

/** `waiting`: there is no work, and it is asked for again. `failed`: nothing happens until the visitor acts. */
export type Phase = 'idle' | 'starting' | 'mining' | 'waiting' | 'stopped' | 'failed'

const MAX_BLOCKS = 12
type Counted = 'accepted' | 'stale' | 'orphaned' | 'failed'

function element<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no element ${id}`)
  return found as T
}

export class View {
  readonly button = element<HTMLButtonElement>('button')
  readonly account = element<HTMLInputElement>('account')
  readonly #counts: Record<Counted, number> = { accepted: 0, stale: 0, orphaned: 0, failed: 0 }

  /** One line on what happens, and one on what the visitor can do about it. */
  show(phase: Phase, line: string, advice: string | null = null): void {
    const isRunning = phase === 'starting' || phase === 'mining' || phase === 'waiting'
    document.body.dataset.phase = phase
    document.body.toggleAttribute('data-running', isRunning)
    this.button.textContent = isRunning ? 'Stop' : phase === 'idle' ? 'Start mining' : 'Start again'
    this.account.disabled = isRunning
    // A live region speaks whenever it is written.
    this.#write('status', line)
    this.#write('advice', advice ?? '')
    element('advice').hidden = advice === null
  }

  network(text: string): void {
    this.#write('network', text)
  }

  device(name: string): void {
    this.#write('gpu', name)
  }

  work({ chain, height, difficulty }: WorkShown): void {
    this.#write('chain', String(chain))
    this.#write('height', height.toLocaleString('en'))
    this.#write('difficulty', `${withPrefix(difficulty)} hashes`)
  }

  /** `difficulty` tells how long a block takes at this rate. */
  rate(hashesPerSecond: number | null, difficulty: number | null): void {
    const [number, unit] = formatHashrate(hashesPerSecond ?? 0).split(' ')
    this.#write('rate', number)
    this.#write('unit', unit)
    const seconds = difficulty === null || !hashesPerSecond ? null : difficulty / hashesPerSecond
    this.#write('pace', seconds === null ? '\u00a0' : `about one block each ${formatDuration(seconds * 1000)}`)
  }

  verdict({ verdict, chain, height, hash, message }: Verdict, at: Date): void {
    const counted: Counted = verdict === 'rejected' || verdict === 'lost' ? 'failed' : verdict
    this.#write(counted, String(++this.#counts[counted]))
    element('blocks').hidden = false
    const item = document.createElement('li')
    item.dataset.verdict = verdict
    const time = withText('time', at.toLocaleTimeString([], { hour12: false }))
    time.dateTime = at.toISOString()
    const code = withText('code', hash)
    code.title = `block hash ${hash}`
    const place = withText('span', `chain ${chain} · height ${height.toLocaleString('en')}`)
    item.append(withText('b', verdict), place, code, time)
    if (message !== undefined) item.append(withText('small', message))
    const list = element('list')
    list.prepend(item)
    while (list.children.length > MAX_BLOCKS) list.lastElementChild?.remove()
  }

  /** A wrong account stays in its field, which says so; null: it is right. */
  accountProblem(problem: string | null): void {
    this.account.setAttribute('aria-invalid', String(problem !== null))
    this.#write('account-note', problem ?? 'k: and a public key of 64 hex digits')
  }

  #write(id: string, text: string): void {
    const found = element(id)
    if (found.textContent !== text) found.textContent = text
  }
}

function withText<Name extends keyof HTMLElementTagNameMap>(name: Name, text: string): HTMLElementTagNameMap[Name] {
  const created = document.createElement(name)
  created.textContent = text
  return created
}
