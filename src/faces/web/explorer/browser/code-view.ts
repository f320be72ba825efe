/** Shows code with line numbers. */
import { make } from '../../kit/dom.ts'

export class CodeView {
  readonly element = make('pre', { class: 'code', tabindex: '0', 'aria-label': 'code' })
  readonly #lines: readonly HTMLElement[]

  constructor(text: string) {
    const lines = text.split('\n')
    this.#lines = lines.map((line) => make('span', { class: 'line' }, line === '' ? ' ' : line))
    this.element.append(...this.#lines)
    this.element.dataset.digits = String(String(lines.length).length)
  }

  /** Marks a line, counted from 1, and scrolls to it. @returns false if there is no such line */
  mark(line: number): boolean {
    for (const each of this.#lines) each.removeAttribute('aria-current')
    const found = this.#lines[line - 1]
    if (found === undefined) return false
    found.setAttribute('aria-current', 'true')
    this.element.scrollTop = Math.max(0, found.offsetTop - this.element.clientHeight / 3)
    return true
  }
}
