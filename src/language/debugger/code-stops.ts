/** Where a program can stop: the forms of a text that are evaluated, and the first one of each line. */
import { annotationsOf } from '../contracts/syntax/annotations.ts'
import type { CallForm, Form } from '../contracts/syntax/form.ts'

/** Position of a form; line and column count from 0. */
interface FormPlace {
  readonly line: number
  readonly column: number
}

/** The stops of one text. */
export class CodeStops {
  /** Position -> whether the form is the first one of its line. */
  readonly #stops = new Map<string, boolean>()
  readonly #lines = new Set<number>()

  constructor(forms: readonly Form[]) {
    for (const form of forms) this.#addTopLevel(form)
  }

  /** @returns null if nothing stops there */
  at(place: FormPlace): { readonly isFirst: boolean } | null {
    const isFirst = this.#stops.get(positionOf(place))
    return isFirst === undefined ? null : { isFirst }
  }

  /** The first line with code at or below a line; null if there is none. */
  lineFrom(line: number): number | null {
    let next: number | null = null
    for (const each of this.#lines) if (each >= line && (next === null || each < next)) next = each
    return next
  }

  get lines(): readonly number[] {
    return [...this.#lines].sort((one, other) => one - other)
  }

  #addTopLevel(form: Form): void {
    const head = headOf(form)
    if (form.form === 'call' && (head === 'module' || head === 'interface')) {
      this.#add(form)
      for (const member of form.items.slice(2)) this.#addMember(member)
    } else if (form.form === 'call' && DEFINITIONS.has(head)) {
      this.#add(form)
      this.#addMember(form)
    } else this.#addBody([form])
  }

  /** Adds the code of a member of a module. Types, tables and imports have none. */
  #addMember(member: Form): void {
    const head = headOf(member)
    if (member.form !== 'call' || !DEFINITIONS.has(head)) return
    if (head === 'defconst') this.#addBody(member.items.slice(2, 3))
    else if (head === 'defpact') {
      for (const step of annotationsOf(member.items.slice(3)).rest) {
        if (step.form === 'call') this.#addBody(step.items.slice(1))
      }
    } else this.#addBody(annotationsOf(member.items.slice(3)).rest)
  }

  /** Adds forms of a body, where each is a stop. */
  #addBody(forms: readonly Form[]): void {
    for (const form of forms) {
      if (form.form !== 'call') this.#add(form)
      this.#addForm(form)
    }
  }

  /** Adds the calls in a form. */
  #addForm(form: Form): void {
    if (form.form === 'list') for (const item of form.items) this.#addForm(item)
    if (form.form === 'object') for (const [, value] of form.fields) this.#addForm(value)
    if (form.form !== 'call' || form.items.length === 0) return
    this.#add(form)
    this.#addParts(form)
  }

  #addParts({ items: [head, ...parts] }: CallForm): void {
    switch (head.form === 'atom' && head.member === null ? head.name : '') {
      case 'let':
      case 'let*': {
        const [bindings, ...body] = parts
        const pairs = bindings?.form === 'call' ? bindings.items : []
        for (const pair of pairs) if (pair.form === 'call' && pair.items.length === 2) this.#addForm(pair.items[1])
        this.#addBody(body)
        return
      }
      case 'lambda':
        this.#addBody(parts.slice(1))
        return
      case 'cond': {
        const pairs = parts.slice(0, -1).flatMap((pair) => (pair.form === 'call' ? pair.items : [pair]))
        this.#addBody([...pairs, ...parts.slice(-1)])
        return
      }
      case 'do':
        this.#addBody(parts)
        return
      case 'with-capability':
        this.#addForm(parts[0])
        this.#addBody(parts.slice(1))
        return
      default:
        this.#addForm(head)
        this.#addArguments(parts)
    }
  }

  /** Adds arguments. Forms after a binding are its body. */
  #addArguments(parts: readonly Form[]): void {
    const binding = parts.findIndex(({ form }) => form === 'binding')
    const [before, body] = binding < 0 ? [parts, []] : [parts.slice(0, binding), parts.slice(binding + 1)]
    for (const part of before) this.#addForm(part)
    this.#addBody(body)
  }

  #add(form: Form): void {
    const { place } = form
    const key = positionOf(place)
    if (this.#stops.has(key)) return
    this.#stops.set(key, !this.#lines.has(place.line))
    this.#lines.add(place.line)
  }
}

const DEFINITIONS: ReadonlySet<string> = new Set(['defun', 'defcap', 'defpact', 'defconst'])

function headOf(form: Form): string {
  const head = form.form === 'call' ? form.items[0] : undefined
  return head?.form === 'atom' && head.member === null ? head.name : ''
}

function positionOf({ line, column }: FormPlace): string {
  return `${line}:${column}`
}
