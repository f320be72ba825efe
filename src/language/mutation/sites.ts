/** Visits the expressions of a module: those that run, in the order of the text. */
import type { BindingForm, CallForm, Form, TypeForm } from '../contracts/syntax/form.ts'
import { headNameOf, type Site } from './fault.ts'
import { type Member, type ModuleFacts, rowFields, type Types } from './module-facts.ts'
import { typeOf } from './types.ts'

/** How a form stands in the code around it. */
interface Position {
  readonly parent: Site | null
  readonly index: number
  readonly types: Types
  readonly isDropped?: boolean
  readonly reachedBy?: Form
}

/** Forms whose operands after the first ones are a block. Bindings begin a block too. */
const BLOCKS: ReadonlyMap<string, number> = new Map([
  ['with-capability', 2],
  ['do', 1],
])

/** All sites of a member. Texts of errors are left out: they change nothing but words. */
export function sitesOf(member: Member, module: ModuleFacts): Site[] {
  return new SiteReader(member, module).sites
}

class SiteReader {
  readonly sites: Site[] = []
  readonly #member: Member
  readonly #module: ModuleFacts

  constructor(member: Member, module: ModuleFacts) {
    this.#member = member
    this.#module = module
    const types: Types = new Map(member.params.map(({ name, type }) => [name, type]))
    if (member.kind === 'defpact') for (const step of member.body) this.#visitStep(step, types)
    else this.#visitBlock(member.body, { parent: null, index: -1, types }, 0)
  }

  #visitStep(step: Form, types: Types): void {
    if (step.form !== 'call') return
    const [, forward, rollback] = step.items
    const hasRollback = headNameOf(step) === 'step-with-rollback'
    const site = this.#add(step, { parent: null, index: -1, types, reachedBy: hasRollback ? rollback : forward })
    const parts = step.items.slice(1, hasRollback ? 3 : 2)
    // The parent of both is the step, but only one of them shows that the rollback runs.
    parts.forEach((part, i) => {
      this.#visit(part, { parent: { ...site, reachedBy: part }, index: i + 1, types })
    })
  }

  /** @param first index of the first of the forms within the call around them */
  #visitBlock(forms: readonly Form[], position: Position, first: number): void {
    const isInCapability = position.parent === null && this.#member.kind === 'defcap'
    forms.forEach((form, i) => {
      const isDropped = i < forms.length - 1 || isInCapability
      this.#visit(form, { ...position, index: position.parent === null ? -1 : first + i, isDropped })
    })
  }

  #add(form: Form, { parent, index, types, isDropped = false, reachedBy }: Position): Site {
    const site: Site = { form, parent, index, types, isDropped, member: this.#member, module: this.#module }
    const added = reachedBy === undefined ? site : { ...site, reachedBy }
    this.sites.push(added)
    return added
  }

  #visit(form: Form, position: Position): void {
    const site = this.#add(form, position)
    const { types } = position
    if (form.form === 'list') for (const item of form.items) this.#visit(item, { parent: site, index: -1, types })
    else if (form.form === 'object') {
      for (const [, value] of form.fields) this.#visit(value, { parent: site, index: -1, types })
    } else if (form.form === 'call') this.#visitCall(form, site)
  }

  #visitCall(call: CallForm, site: Site): void {
    const { items } = call
    const { types } = site
    const name = headNameOf(call)
    switch (name) {
      case 'let':
      case 'let*':
        this.#visitLet(call, site)
        return
      case 'lambda': {
        const params = items[1]?.form === 'call' ? items[1].items : []
        const own = params.flatMap((each) => (each.form === 'atom' ? [[each.name, each.type] as const] : []))
        this.#visitBlock(items.slice(2), { parent: site, index: 2, types: new Map([...types, ...own]) }, 2)
        return
      }
      case 'cond':
        this.#visitCond(call, site)
        return
      case 'enforce':
        if (items[1] !== undefined) this.#visit(items[1], { parent: site, index: 1, types })
        return
      case 'enforce-one':
        if (items[2] !== undefined) this.#visit(items[2], { parent: site, index: 2, types })
        return
    }
    const [head] = items
    if (head !== undefined && head.form !== 'atom') this.#visit(head, { parent: site, index: 0, types })
    this.#visitOperands(call, site)
  }

  /** The operands of a call: a binding, and what `BLOCKS` names, begin a block. */
  #visitOperands(call: CallForm, site: Site): void {
    const { items } = call
    const { types } = site
    const binding = items.findIndex((item) => item.form === 'binding')
    const block = binding < 0 ? (BLOCKS.get(headNameOf(call) ?? '') ?? items.length) : binding + 1
    const plain = items.slice(1, binding < 0 ? block : binding)
    for (const [i, item] of plain.entries()) this.#visit(item, { parent: site, index: i + 1, types })
    const bound = binding < 0 ? types : new Map([...types, ...this.#bound(items[binding] as BindingForm, call)])
    this.#visitBlock(items.slice(block), { parent: site, index: block, types: bound }, block)
  }

  /** Types of the variables of a binding: as written, or those of the row. */
  #bound({ fields }: BindingForm, call: CallForm): (readonly [string, TypeForm | null])[] {
    const name = headNameOf(call)
    const isRow = name === 'with-read' || name === 'with-default-read'
    const row: ReadonlyMap<string, TypeForm | null> = isRow ? rowFields(call.items[1], this.#module) : new Map()
    return fields.map(([field, { name: variable, type }]) => [variable, type ?? row.get(field) ?? null] as const)
  }

  #visitLet(call: CallForm, site: Site): void {
    const [, list, ...body] = call.items
    const types = new Map(site.types)
    const binders = list?.form === 'call' ? list.items : []
    binders.forEach((binder, i) => {
      const [variable, value] = binder.form === 'call' ? binder.items : []
      if (variable?.form !== 'atom' || value === undefined) return
      // A variable that nobody reads is the way to run a check in `let`.
      const isDropped = ![...binders.slice(i + 1), ...body].some((form) => mentions(form, variable.name))
      this.#visit(value, { parent: site, index: -1, types: new Map(types), isDropped })
      types.set(variable.name, variable.type ?? typeOf(value, types, this.#module))
    })
    this.#visitBlock(body, { parent: site, index: 2, types }, 2)
  }

  #visitCond(call: CallForm, site: Site): void {
    const { types } = site
    call.items.slice(1).forEach((part, i) => {
      const isLast = i === call.items.length - 2
      if (isLast || part.form !== 'call') this.#visit(part, { parent: site, index: i + 1, types })
      else for (const item of part.items) this.#visit(item, { parent: site, index: -1, types })
    })
  }
}

/** Whether code names a variable. */
function mentions(form: Form, name: string): boolean {
  switch (form.form) {
    case 'atom':
      return form.name === name
    case 'list':
    case 'call':
      return form.items.some((item) => mentions(item, name))
    case 'object':
      return form.fields.some(([, value]) => mentions(value, name))
    default:
      return false
  }
}
