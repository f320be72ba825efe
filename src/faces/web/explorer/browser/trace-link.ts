/** Links from steps of a trace to their code. */
import { make } from '../../kit/dom.ts'
import { moduleUrl } from './place.ts'
import type { ShownStep, ShownTrace } from './trace-tree.ts'

/**
 * Link to the place where an error arose, else to where the code makes the step.
 * @param onOwn shows a line of the code of the command itself
 */
export function stepLink(
  step: ShownStep,
  { chain, modules }: ShownTrace,
  onOwn: (line: number) => void,
): HTMLElement | null {
  const at = step.failedAt ?? step.at
  if (at === null || at === undefined) return null
  if (at.module === null) {
    const go = make('button', { type: 'button', class: 'link', tabindex: '-1' }, `line ${at.line}:${at.column}`)
    go.addEventListener('click', () => onOwn(at.line))
    return go
  }
  const { line: first = 1, hash } = modules[at.module] ?? {}
  // Lines of a trace count from the beginning of the transaction that deployed the module.
  const line = at.line - first + 1
  const href = moduleUrl(chain, at.module, { view: 'code', line, hash })
  const title = `${at.module}, line ${line}, column ${at.column}`
  return make('a', { class: 'step-link', href, tabindex: '-1', title }, `${at.module}:${line}`)
}
