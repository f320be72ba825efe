/**
 * Refuses members of a module that use each other in a circle. As on the network, names decide: this runs before any of
 * them is resolved.
 */
import type { TextPlace } from '../../errors.ts'
import type { Atom, BindingForm, CallForm, Form, TypeForm } from '../../syntax/form.ts'
import { recursiveModule } from '../expand/load-errors.ts'

/** Variables that hide members of the same name. */
interface HiddenNames {
  readonly name: string
  readonly up: HiddenNames | null
}

/** Names with a meaning that no member of the module can have. */
export interface NamesInUse {
  /** Full name of the module. */
  readonly module: string
  readonly reserved: ReadonlySet<string>
  /** True for the name of a special form, which hides members at the head of a call. */
  readonly isForm: (name: string) => boolean
}

/** Finds the members that one member uses. */
class UseFinder {
  readonly #names: NamesInUse
  readonly #members: ReadonlyMap<string, CallForm>
  readonly found = new Set<string>()

  constructor(names: NamesInUse, members: ReadonlyMap<string, CallForm>) {
    this.#names = names
    this.#members = members
  }

  visitMember(call: CallForm): void {
    const [head, name, params, ...body] = call.items
    this.#visitType(name)
    const kind = head.form === 'atom' ? head.name : ''
    if (kind === 'deftable' || kind === 'defschema') {
      for (const field of [params, ...body]) if (field !== undefined) this.#visitType(field)
    } else if (kind === 'defconst') this.#visitForm(params, null)
    else {
      const inner = this.#visitParameters(params, null)
      // The parameters of capabilities and pacts hide nothing here.
      for (const form of body) this.#visitForm(form, kind === 'defun' ? inner : null)
    }
  }

  #visitName(name: string, hidden: HiddenNames | null): void {
    const { module, reserved } = this.#names
    const prefix = `${module}.`
    const isOwn = name.startsWith(prefix)
    const bare = isOwn ? name.slice(prefix.length) : name
    if (!this.#members.has(bare) || (!isOwn && reserved.has(bare))) return
    for (let each = hidden; each !== null; each = each.up) if (each.name === bare) return
    this.found.add(bare)
  }

  #visitType(form: Form | undefined): void {
    if (form?.form === 'atom' && form.type !== null) this.#visitTypeForm(form.type)
  }

  #visitTypeForm(type: TypeForm): void {
    if (type.type === 'list' && type.item !== null) this.#visitTypeForm(type.item)
    if ((type.type === 'object' || type.type === 'table') && type.schema !== null) this.#visitName(type.schema, null)
  }

  /** @returns the variables with the parameters */
  #visitParameters(form: Form | undefined, hidden: HiddenNames | null): HiddenNames | null {
    let inner = hidden
    for (const param of form?.form === 'call' ? form.items : []) {
      this.#visitType(param)
      if (param.form === 'atom') inner = { name: param.name, up: inner }
    }
    return inner
  }

  #visitForm(form: Form | undefined, hidden: HiddenNames | null): void {
    switch (form?.form) {
      case 'atom':
        if (form.member === null) this.#visitName(form.name, hidden)
        return
      case 'list':
        for (const item of form.items) this.#visitForm(item, hidden)
        return
      case 'object':
        for (const [, value] of form.fields) this.#visitForm(value, hidden)
        return
      case 'call':
        this.#visitCall(form, hidden)
    }
  }

  #visitCall({ items }: CallForm, hidden: HiddenNames | null): void {
    const [head, ...rest] = items
    const name = head?.form === 'atom' && head.member === null ? head.name : ''
    if (name === 'lambda') this.#visitForms(rest.slice(1), this.#visitParameters(rest[0], hidden))
    else if (name === 'let' || name === 'let*') this.#visitLet(rest, hidden)
    else this.#visitForms(head !== undefined && !this.#names.isForm(name) ? items : rest, hidden)
  }

  /** A binding hides names in the forms after it. */
  #visitForms(forms: readonly Form[], hidden: HiddenNames | null): void {
    let inner = hidden
    for (const form of forms) {
      if (form.form === 'binding') inner = this.#visitBinding(form, inner)
      else this.#visitForm(form, inner)
    }
  }

  #visitBinding({ fields }: BindingForm, hidden: HiddenNames | null): HiddenNames | null {
    let inner = hidden
    for (const [, variable] of fields) {
      this.#visitType(variable)
      inner = { name: variable.name, up: inner }
    }
    return inner
  }

  #visitLet([bindings, ...body]: readonly Form[], hidden: HiddenNames | null): void {
    let inner = hidden
    for (const binding of bindings?.form === 'call' ? bindings.items : []) {
      const [variable, value] = binding.form === 'call' ? binding.items : []
      this.#visitType(variable)
      this.#visitForm(value, inner)
      if (variable?.form === 'atom') inner = { name: (variable as Atom).name, up: inner }
    }
    this.#visitForms(body, inner)
  }
}

/**
 * @param calls definitions of the module
 * @returns each definition with the definitions that it uses
 * @throws EvalError if some of them use each other in a circle
 */
export function refuseCycles(names: NamesInUse, calls: readonly CallForm[]): ReadonlyMap<string, ReadonlySet<string>> {
  const members = new Map<string, CallForm>()
  for (const call of calls) {
    const name = call.items[1]
    if (name?.form === 'atom') members.set(name.name, call)
  }
  const uses = new Map<string, ReadonlySet<string>>()
  for (const [name, call] of members) {
    const finder = new UseFinder(names, members)
    finder.visitMember(call)
    uses.set(name, finder.found)
  }
  const path = findCycle(uses)
  if (path === null) return uses
  // Each member once, from the first by name.
  const first = path.indexOf([...path].sort()[0])
  const sorted = [...path.slice(first), ...path.slice(0, first)]
  throw recursiveModule(names.module, sorted, placeOf(members.get(sorted[0])))
}

function placeOf(call: CallForm | undefined): TextPlace | null {
  return call?.place ?? null
}

/** Iterative depth-first search: a module may have thousands of functions, each calling the next. */
function findCycle(uses: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] | null {
  const done = new Set<string>()
  for (const start of uses.keys()) {
    const path: (readonly [name: string, uses: Iterator<string>])[] = []
    const onPath = new Set<string>()
    const enter = (name: string) => {
      path.push([name, (uses.get(name) ?? new Set<string>()).values()])
      onPath.add(name)
    }
    if (!done.has(start)) enter(start)
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const [name, left] = last
      const next = left.next()
      if (next.done) {
        path.pop()
        onPath.delete(name)
        done.add(name)
      } else if (onPath.has(next.value)) {
        const names = [...onPath]
        return names.slice(names.indexOf(next.value))
      } else if (!done.has(next.value)) enter(next.value)
    }
  }
  return null
}
