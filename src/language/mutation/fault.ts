/** Faults that operators plant in the text of a contract. */
import type { CallForm, Form, ObjectForm } from '../contracts/syntax/form.ts'
import type { Member, ModuleFacts, Types } from './module-facts.ts'

/** A change of a text. Offsets are those of the text before all changes. */
export interface Edit {
  readonly from: number
  /** The offset after the last character that goes. */
  readonly to: number
  readonly text: string
  /** True for code that a fault needs elsewhere. Reports leave it out. */
  readonly isHelper?: true
}

export interface Fault {
  readonly edits: readonly Edit[]
  /** A clause that follows "no test noticed that". */
  readonly what: string
}

/** An expression of a member, with all that operators ask about it. */
export interface Site {
  readonly form: Form
  /** The site around it; null at the top of a member. */
  readonly parent: Site | null
  /** Position among the items of the call around it; -1 elsewhere. */
  readonly index: number
  /** Types of the variables in scope. */
  readonly types: Types
  /** True if no code uses the value. */
  readonly isDropped: boolean
  /** The form whose evaluation shows that tests reach the site, where it is not the site itself. */
  readonly reachedBy?: Form
  readonly member: Member
  readonly module: ModuleFacts
}

/** A way to plant faults. */
export interface Operator {
  readonly name: string
  /** The change in one line, for the table of the documents and reports. */
  readonly change: string
  /** The faults at an expression. */
  readonly atSite?: (site: Site) => readonly Fault[]
  /** The faults of a whole function, capability or pact. */
  readonly inMember?: (member: Member, module: ModuleFacts) => readonly Fault[]
}

/** Name of the function or form that a call names; null for other forms and for members of module references. */
export function headNameOf(form: Form | undefined): string | null {
  if (form?.form !== 'call') return null
  const [head] = form.items
  return head?.form === 'atom' && head.member === null ? head.name : null
}

/** The call of a site, if it calls one of these. */
export function callTo(site: Site, names: ReadonlySet<string>): CallForm | null {
  const name = headNameOf(site.form)
  return name !== null && names.has(name) ? (site.form as CallForm) : null
}

/** The call around a site, if the site is one of its operands. */
export function callAround({ parent, index }: Site): CallForm | null {
  return index > 0 && parent?.form.form === 'call' ? parent.form : null
}

/** The name of the table that an object is written to; null for other objects. */
export function writtenTable(object: Site | null): string | null {
  const call = object === null ? null : callAround(object)
  if (call === null || object?.form.form !== 'object' || !WRITES.has(headNameOf(call) ?? '')) return null
  const [, table] = call.items
  return table.form === 'atom' ? table.name : null
}

/** Name of the field of an object that a site is the value of; null elsewhere. */
export function fieldNameOf({ form, parent }: Site): string | null {
  const object = parent?.form.form === 'object' ? (parent.form as ObjectForm) : null
  return object?.fields.find(([, value]) => value === form)?.[0] ?? null
}

export const WRITES: ReadonlySet<string> = new Set(['insert', 'update', 'write'])

export const replaceForm = ({ from, to }: Form, text: string): Edit => ({ from, to, text })

export function replaceHead(call: CallForm, name: string): Edit {
  return replaceForm(call.items[0], name)
}

/** Puts code around a form. */
export function wrapForm({ from, to }: Form, before: string, after: string): Edit[] {
  return [
    { from, to: from, text: before },
    { from: to, to, text: after },
  ]
}

/** The text after the edits. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let [changed, at] = ['', 0]
  for (const { from, to, text: inserted } of [...edits].sort((one, other) => one.from - other.from)) {
    changed += text.slice(at, from) + inserted
    at = to
  }
  return changed + text.slice(at)
}
