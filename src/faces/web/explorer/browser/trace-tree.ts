/**
 * A trace as a tree that folds (the tree pattern of WAI-ARIA). Rows are siblings with a level, and those of a folded
 * step do not exist: 10,000 steps in nested lists would be too deep for browsers.
 */

import { isGasPart, ShortValues } from '#ground/base/printable.ts'
import type { Traced, TraceStep } from '#ground/schema/trace.ts'
import type { Static } from '#ground/schema/typebox.ts'
import { make } from '../../kit/dom.ts'

export type ShownStep = Omit<Static<typeof TraceStep>, 'children'> & { readonly children: readonly ShownStep[] }
export type ShownTrace = Omit<Static<typeof Traced>, 'trace'> & { readonly trace: ShownStep }

/** Levels above which rows are not indented any further. */
const MAX_INDENT = 18
/** Rows below which the code of the transaction is unfolded at first. */
const FIRST_ROWS = 200

interface Node {
  readonly step: ShownStep
  readonly level: number
  readonly parent: Node | null
  readonly row: HTMLElement
  isOpen: boolean
}

export class StepTree {
  readonly element = make('div', { class: 'trace', role: 'tree', 'aria-label': 'Steps with their gas' })
  readonly #nodes = new WeakMap<Element, Node>()
  readonly #linkOf: (step: ShownStep) => HTMLElement | null
  readonly #values = new ShortValues()
  readonly #root: Node
  #isWhole = false
  #current: Node

  /** @param linkOf link to the code of a step */
  constructor(trace: ShownStep, linkOf: (step: ShownStep) => HTMLElement | null) {
    this.#linkOf = linkOf
    this.#nameKeysets(trace)
    this.#root = this.#node(trace, null, { place: 1, count: 1 })
    this.#current = this.#root
    this.element.append(this.#root.row)
    this.#root.row.tabIndex = 0
    this.#unfoldCode()
    this.element.addEventListener('keydown', (event) => this.#key(event))
    this.element.addEventListener('click', (event) => this.#click(event))
  }

  /** The keysets that steps name, folded; nothing if there are none. */
  keysetsPart(): HTMLElement[] {
    const { keysets } = this.#values
    if (keysets.size === 0) return []
    const rows = [...keysets].map(([keyset, name]) => make('li', {}, make('b', {}, name), ' ', keyset))
    const title = make('summary', {}, keysets.size === 1 ? '1 keyset' : `${keysets.size} keysets`)
    return [make('details', { class: 'keysets' }, title, make('ul', { class: 'plain' }, ...rows))]
  }

  /** Shows whole values, or short ones. */
  showWhole(isWhole: boolean): void {
    this.#isWhole = isWhole
    for (const row of this.element.children) {
      const { step, level } = this.#at(row)
      row.querySelector('.what')?.replaceWith(this.#what(step, level))
    }
  }

  /** Unfolds all steps. */
  unfoldAll(): void {
    this.#unfold(this.#root, Number.POSITIVE_INFINITY)
  }

  foldAll(): void {
    for (const node of this.#childrenOf(this.#root)) this.#fold(node)
    this.#choose(this.#root, false)
  }

  /** Shows the deepest step of the error that failed the transaction. @returns false if there is none */
  showFailure(): boolean {
    let node: Node | undefined = this.#root.step.error === undefined ? undefined : this.#root
    let deepest: Node | undefined
    while (node !== undefined) {
      deepest = node
      this.#unfold(node, 1)
      node = this.#childrenOf(node).findLast(({ step }) => step.error !== undefined)
    }
    if (deepest === undefined) return false
    deepest.row.dataset.deepest = 'true'
    this.#choose(deepest, true)
    deepest.row.scrollIntoView({ block: 'center' })
    return true
  }

  /** Shows the step with an error that follows the chosen one; after the last, the first. */
  showNextError(): boolean {
    this.unfoldAll()
    const rows = [...this.element.children]
    const from = rows.indexOf(this.#current.row) + 1
    const next = [...rows.slice(from), ...rows.slice(0, from)].find((row) => this.#at(row).step.error !== undefined)
    if (next === undefined) return false
    this.#choose(this.#at(next), true)
    next.scrollIntoView({ block: 'nearest' })
    return true
  }

  #at(row: Element): Node {
    const node = this.#nodes.get(row)
    if (node === undefined) throw new Error('a row of no step')
    return node
  }

  #node(step: ShownStep, parent: Node | null, { place, count }: { place: number; count: number }): Node {
    const level = (parent?.level ?? 0) + 1
    const row = make(
      'div',
      {
        class: 'step',
        role: 'treeitem',
        tabindex: '-1',
        'aria-level': String(level),
        'aria-posinset': String(place),
        'aria-setsize': String(count),
        'data-kind': step.kind,
        ...(step.error !== undefined && { 'data-failed': 'true' }),
        ...(step.children.length > 0 && { 'aria-expanded': 'false' }),
      },
      ...gasCells(step),
      this.#what(step, level),
      make('span', { class: 'at' }, this.#linkOf(step) ?? ''),
    )
    const node = { step, level, parent, row, isOpen: false }
    this.#nodes.set(row, node)
    return node
  }

  #what(step: ShownStep, level: number): HTMLElement {
    const what = make('span', { class: 'what' }, make('span', { class: 'fold', 'aria-hidden': 'true' }))
    what.style.paddingLeft = `${Math.min(level - 1, MAX_INDENT)}em`
    if (step.kind !== 'call' && step.kind !== 'gas') what.append(make('span', { class: 'kind' }, step.kind), ' ')
    what.append(make('b', {}, step.name))
    if (step.args.length > 0) what.append(' ', this.#valueOf('args', step.args))
    if (step.by !== undefined && step.by !== step.kind) what.append(' ', make('span', { class: 'by' }, `by ${step.by}`))
    if (step.result !== undefined) what.append(' ', this.#valueOf('result', [step.result], '→ '))
    if (step.error !== undefined) what.append(' ', make('span', { class: 'error' }, `✗ ${step.error}`))
    if (step.omitted !== undefined)
      what.append(' ', make('span', { class: 'by' }, `${step.omitted} steps are left out`))
    return what
  }

  #valueOf(name: string, values: readonly string[], before = ''): HTMLElement {
    const whole = values.join(' ')
    const text = this.#isWhole ? whole : values.map((each) => this.#values.shorten(each)).join(' ')
    return make('span', { class: name, ...(text !== whole && { title: whole }) }, `${before}${text}`)
  }

  /** Names all keysets in the order of the steps, so that each row has the name alone. */
  #nameKeysets({ args, result, children }: ShownStep): void {
    for (const value of [...args, result ?? '']) this.#values.shorten(value)
    for (const child of children) this.#nameKeysets(child)
  }

  /** Unfolds level by level, but not the steps that buy and redeem gas. */
  #unfoldCode(): void {
    let level = [this.#root]
    while (level.length > 0 && this.element.childElementCount < FIRST_ROWS) {
      for (const node of level) this.#unfold(node, 1)
      const isTop = level[0] === this.#root
      level = level.flatMap((node) => this.#childrenOf(node)).filter(({ step }) => !(isTop && isGasPart(step)))
    }
  }

  /** Rows of the steps within an unfolded one. */
  #childrenOf(node: Node): Node[] {
    const found: Node[] = []
    if (!node.isOpen) return found
    for (let row = node.row.nextElementSibling; row !== null; row = row.nextElementSibling) {
      const each = this.#at(row)
      if (each.level <= node.level) break
      if (each.level === node.level + 1) found.push(each)
    }
    return found
  }

  /** @param levels how many levels below the step to unfold */
  #unfold(node: Node, levels: number): void {
    const waiting: (readonly [Node, number])[] = [[node, levels]]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [each, left] = next
      if (left < 1 || each.step.children.length === 0) continue
      if (!each.isOpen) this.#open(each)
      if (left > 1) for (const child of this.#childrenOf(each)) waiting.push([child, left - 1])
    }
  }

  #open(node: Node): void {
    const { children } = node.step
    const rows = children.map((step, i) => this.#node(step, node, { place: i + 1, count: children.length }).row)
    node.row.after(...rows)
    node.isOpen = true
    node.row.setAttribute('aria-expanded', 'true')
  }

  #fold(node: Node): void {
    if (!node.isOpen) return
    let row = node.row.nextElementSibling
    while (row !== null && this.#at(row).level > node.level) {
      const next = row.nextElementSibling
      row.remove()
      row = next
    }
    node.isOpen = false
    node.row.setAttribute('aria-expanded', 'false')
    if (!this.#current.row.isConnected) this.#choose(node, false)
  }

  #choose(node: Node, hasFocus: boolean): void {
    this.#current.row.tabIndex = -1
    this.#current.row.removeAttribute('aria-current')
    node.row.tabIndex = 0
    node.row.setAttribute('aria-current', 'true')
    this.#current = node
    if (hasFocus) node.row.focus({ preventScroll: false })
  }

  #toggle(node: Node): void {
    if (node.isOpen) this.#fold(node)
    else this.#unfold(node, 1)
  }

  #click(event: MouseEvent): void {
    const target = event.target as Element
    const row = target.closest('.step')
    if (row === null || target.closest('a, button') !== null) return
    const node = this.#at(row)
    // A click that selects text folds nothing.
    if (getSelection()?.isCollapsed !== false) this.#toggle(node)
    this.#choose(node, true)
  }

  #key(event: KeyboardEvent): void {
    const isLink = (event.target as Element).closest('a, button') !== null
    if (event.altKey || event.ctrlKey || event.metaKey || isLink) return
    const to = this.#keys[event.key]?.()
    if (to === undefined) return
    event.preventDefault()
    if (to !== null) this.#choose(to, true)
  }

  /** Key -> the step to choose; null for none. */
  get #keys(): Readonly<Record<string, () => Node | null>> {
    const node = this.#current
    const at = (row: Element | null) => (row === null ? null : this.#at(row))
    const toggle = () => {
      this.#toggle(node)
      return node
    }
    return {
      ArrowDown: () => at(node.row.nextElementSibling),
      ArrowUp: () => at(node.row.previousElementSibling),
      ArrowRight: () => (node.isOpen ? at(node.row.nextElementSibling) : toggle()),
      ArrowLeft: () => (node.isOpen ? toggle() : node.parent),
      Home: () => at(this.element.firstElementChild),
      End: () => at(this.element.lastElementChild),
      Enter: toggle,
      ' ': toggle,
    }
  }
}

/** `12.345`: gas with its three decimals. */
const stepGas = (milligas: number) =>
  (milligas / 1000).toLocaleString('en', { minimumFractionDigits: 3, maximumFractionDigits: 3 })

function gasCells({ gasTotal, gasOwn }: ShownStep): HTMLElement[] {
  return [
    make('span', { class: 'gas total' }, stepGas(gasTotal)),
    make('span', { class: gasOwn === 0 ? 'gas own is-zero' : 'gas own' }, stepGas(gasOwn)),
  ]
}
