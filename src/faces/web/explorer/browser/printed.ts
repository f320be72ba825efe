/** Texts that contracts print: the newest of the node, and those of one trace. */
import type { PrintView } from '#ground/schema/view.ts'
import { element, fill, make } from '../../kit/dom.ts'
import { hashStart } from '../../kit/numbers.ts'
import { SHOWN_LINES } from './lists.ts'
import type { NodeState } from './state.ts'
import type { ShownStep } from './trace-tree.ts'

/** Lists the texts, the newest first. The section is hidden unless the node allows `print`. */
export function showPrints({ prints, view }: NodeState): void {
  element('prints-section').hidden = view.prints === undefined
  element('prints-none').hidden = prints.length > 0
  const rowOf = ({ by, chain, height, module, line, requestKey, text }: PrintView) =>
    make(
      'li',
      {},
      make(
        'a',
        { class: 'hash', href: `/explorer/transaction#${requestKey}`, title: requestKey },
        hashStart(requestKey),
      ),
      make('span', { class: 'where' }, `chain ${chain} · ${by === 'block' ? `height ${height}` : by}`),
      make('code', { class: 'what', title: text }, text),
      make('span', { class: 'note' }, `${module ?? 'code'}:${line}`),
    )
  fill(element('prints'), prints.slice(-SHOWN_LINES).toReversed(), ({ id }) => String(id), rowOf)
}

/** The printed texts of a trace as a list, or nothing if there are none. */
export function printedPart(trace: ShownStep): HTMLElement[] {
  const texts = printedIn(trace)
  if (texts.length === 0) return []
  return [
    make(
      'ol',
      { class: 'list', 'aria-label': 'Printed texts' },
      ...texts.map((text) => make('li', {}, make('code', {}, text))),
    ),
  ]
}

function printedIn({ kind, args, children }: ShownStep): string[] {
  const own = kind === 'print' ? args.slice(0, 1) : []
  return [...own, ...children.flatMap(printedIn)]
}
