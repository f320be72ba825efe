/** Writes values into the elements of mine.html. */
import { formatDuration, withPrefix } from '#ground/base/units.ts'
import { element, make, write } from '../../kit/dom.ts'
import { groupDigits, rateParts } from '../../kit/numbers.ts'
import type { SolutionEnd } from '../wire.ts'
import type { WorkShown } from './miner.ts'

/** `waiting`: no work yet, retrying. `failed`: nothing happens until the visitor acts. */
export type Phase = 'idle' | 'starting' | 'mining' | 'waiting' | 'stopped' | 'failed'

const MAX_BLOCKS = 12
type Counted = 'accepted' | 'stale' | 'orphaned' | 'failed'

export class MineView {
  readonly button = element<HTMLButtonElement>('button')
  readonly account = element<HTMLInputElement>('account')
  readonly #hint = element('account-note').textContent ?? ''
  readonly #counts: Record<Counted, number> = { accepted: 0, stale: 0, orphaned: 0, failed: 0 }

  /** Shows one line of status and one of advice. */
  show(phase: Phase, line: string, advice: string | null = null): void {
    const isRunning = phase === 'starting' || phase === 'mining' || phase === 'waiting'
    document.body.dataset.phase = phase
    document.body.toggleAttribute('data-running', isRunning)
    this.button.textContent = isRunning ? 'Stop' : phase === 'idle' ? 'Start mining' : 'Start again'
    this.account.disabled = isRunning
    // Screen readers announce every write to a live region.
    write('status', line)
    write('advice', advice ?? '')
    element('advice').hidden = advice === null
  }

  network(text: string): void {
    write('network', text)
  }

  /** Lists accounts below the field. */
  suggest(accounts: readonly string[]): void {
    element('known-accounts').replaceChildren(...[...new Set(accounts)].map((value) => make('option', { value })))
  }

  device(name: string): void {
    write('gpu', name)
  }

  work({ chain, height, difficulty }: WorkShown): void {
    write('chain', String(chain))
    write('height', groupDigits(height))
    write('difficulty', `${withPrefix(difficulty)} hashes`)
  }

  /** Shows the hashrate, and with `difficulty` the expected time per block. */
  rate(hashesPerSecond: number | null, difficulty: number | null): void {
    const [number, unit] = rateParts(hashesPerSecond ?? 0)
    write('rate', number)
    write('unit', unit)
    const seconds = difficulty === null || !hashesPerSecond ? null : difficulty / hashesPerSecond
    write('pace', seconds === null ? '\u00a0' : `about one block every ${formatDuration(seconds * 1000)}`)
  }

  end({ verdict, chain, height, hash, message }: SolutionEnd, at: Date): void {
    const counted: Counted = verdict === 'rejected' || verdict === 'lost' ? 'failed' : verdict
    write(counted, String(++this.#counts[counted]))
    element('blocks').hidden = false
    const clock = at.toLocaleTimeString([], { hour12: false })
    const item = make(
      'li',
      { 'data-verdict': verdict },
      make('b', {}, verdict),
      make('span', {}, `chain ${chain} · height ${groupDigits(height)}`),
      make('code', { title: `block hash ${hash}` }, hash),
      make('time', { datetime: at.toISOString() }, clock),
      ...(message === undefined ? [] : [make('small', {}, message)]),
    )
    const list = element('list')
    list.prepend(item)
    while (list.children.length > MAX_BLOCKS) list.lastElementChild?.remove()
  }

  /** Shows the problem of the account field, or clears it with null. A wrong account stays in its field. */
  accountProblem(problem: string | null): void {
    this.account.setAttribute('aria-invalid', String(problem !== null))
    write('account-note', problem ?? this.#hint)
  }
}
