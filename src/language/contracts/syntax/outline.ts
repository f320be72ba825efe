/** Reads contracts into outlines: the names, parameters, types and documents of their members. */
import type { Atom, CallForm, Form, TypeForm } from './form.ts'
import { isWord } from './names.ts'
import { readProgram } from './program.ts'

export { annotationsOf } from './annotations.ts'

/** A parameter of a function, or a field of a schema. */
export interface TypedField {
  readonly name: string
  readonly type: TypeForm | null
}

interface DocumentedMember {
  readonly name: string
  readonly doc: string | null
}

/** A function, pact or capability. */
export interface CallableOutline extends DocumentedMember {
  readonly params: readonly TypedField[]
  /** Null if the text declares no type. */
  readonly result: TypeForm | null
}

export interface CapabilityOutline extends CallableOutline {
  /** `@event` or `@managed`, with its parameter and manager; null for a plain capability. */
  readonly mark: string | null
}

export interface SchemaOutline extends DocumentedMember {
  readonly fields: readonly TypedField[]
}

export interface TableOutline extends DocumentedMember {
  /** Name of its schema as written. */
  readonly schema: string | null
}

export interface ConstantOutline extends DocumentedMember {
  readonly type: TypeForm | null
  readonly value: Form
  /** Text of the value. */
  readonly text: string
}

/** The members of a module or an interface. */
export interface Outline {
  /** `module` or `namespace.module`. */
  readonly name: string
  readonly namespace: string | null
  readonly isInterface: boolean
  readonly doc: string | null
  /** Names as written, without the namespace where the text has none. */
  readonly implements: readonly string[]
  readonly uses: readonly string[]
  readonly functions: readonly CallableOutline[]
  readonly pacts: readonly CallableOutline[]
  readonly capabilities: readonly CapabilityOutline[]
  readonly schemas: readonly SchemaOutline[]
  readonly tables: readonly TableOutline[]
  readonly constants: readonly ConstantOutline[]
  /** Dotted names in types, and in the bodies of capabilities. */
  readonly namedBySignatures: readonly string[]
  /** Dotted names in the bodies of functions and pacts. */
  readonly namedByBodies: readonly string[]
}

/** The value of a top-level `(namespace ..)` that no reader knows: it comes from message data. */
export class UnknownNamespace extends Error {
  readonly text: string

  constructor(text: string) {
    super(`the namespace is code: ${text}`)
    this.text = text
  }
}

/**
 * Reads all modules and interfaces of a text.
 * @param namespace namespace of the first of them; a `(namespace ..)` of the text changes it
 * @throws ContractError (SyntaxError) for text outside the grammar, UnknownNamespace for a computed namespace
 */
export function outlinesOf(text: string, namespace: string | null): Outline[] {
  const outlines: Outline[] = []
  let current: string | null | UnknownNamespace = namespace
  for (const form of readProgram(text)) {
    if (form.form !== 'call') continue
    const [head, name] = form.items
    if (isWord(head, 'namespace') && name !== undefined) {
      current = name.form === 'string' ? name.value || null : new UnknownNamespace(text.slice(form.from, form.to))
    } else if (isWord(head, 'module') || isWord(head, 'interface')) {
      if (current instanceof UnknownNamespace) throw current
      outlines.push(moduleOutlineOf(text, form, current))
    }
  }
  return outlines
}

/** @param namespace namespace of the module; null for the root */
export function moduleOutlineOf(text: string, form: CallForm, namespace: string | null): Outline {
  const [head, name] = form.items as [Atom, Atom]
  const isInterface = head.name === 'interface'
  const members = form.items.slice(isInterface ? 2 : 3).filter((item) => item.form === 'call')
  const membersOf = (kind: string) => members.filter(({ items }) => isWord(items[0], kind))
  const firstNames = (kind: string) => membersOf(kind).map(({ items }) => (items[1] as Atom).name)
  const callables = (kind: string) =>
    membersOf(kind).map((member) => callableOf(member, !isInterface && kind !== 'defpact'))
  const signed = [...membersOf('defschema'), ...membersOf('deftable'), ...membersOf('defcap')]
  const called = [...membersOf('defun'), ...membersOf('defpact')]
  return {
    name: namespace === null ? name.name : `${namespace}.${name.name}`,
    namespace,
    isInterface,
    doc: docOf(form.items, isInterface ? 2 : 3, false),
    implements: firstNames('implements'),
    uses: firstNames('use'),
    functions: callables('defun'),
    pacts: callables('defpact'),
    capabilities: membersOf('defcap').map((member) => ({
      ...callableOf(member, !isInterface),
      mark: markOf(text, member),
    })),
    schemas: membersOf('defschema').map(schemaOf),
    tables: membersOf('deftable').map(tableOf),
    constants: membersOf('defconst').map((member) => constantOf(text, member)),
    namedBySignatures: [
      ...signed.flatMap((member) => namesIn(member.items)),
      ...called.flatMap(({ items }) => namesIn([items[1], items[2]])),
    ],
    namedByBodies: called.flatMap(({ items }) => namesIn(items.slice(3))),
  }
}

/** @param hasBody true if a string at the end is the body, not a docstring */
function callableOf({ items }: CallForm, hasBody: boolean): CallableOutline {
  const name = items[1] as Atom
  const params = (items[2] as CallForm).items as readonly Atom[]
  return { name: name.name, doc: docOf(items, 3, hasBody), params: params.map(fieldOf), result: name.type }
}

const fieldOf = ({ name, type }: Atom): TypedField => ({ name, type })

function schemaOf({ items }: CallForm): SchemaOutline {
  const fields = items.slice(2).filter((item) => item.form === 'atom' && !item.name.startsWith('@'))
  return { name: (items[1] as Atom).name, doc: docOf(items, 2, false), fields: (fields as Atom[]).map(fieldOf) }
}

function tableOf({ items }: CallForm): TableOutline {
  const { name, type } = items[1] as Atom
  return { name, doc: docOf(items, 2, false), schema: type?.type === 'object' ? type.schema : null }
}

function constantOf(text: string, { items }: CallForm): ConstantOutline {
  const [, name, value] = items as [Atom, Atom, Form]
  return {
    name: name.name,
    type: name.type,
    value,
    text: text.slice(value.from, value.to),
    doc: docOf(items, 3, false),
  }
}

/** The docstring at `from` or after `@model`, or null. */
function docOf(items: readonly Form[], from: number, hasBody: boolean): string | null {
  for (let at = from; at < items.length; at += 2) {
    const item = items[at]
    if (isWord(item, '@doc')) return stringOf(items[at + 1])
    if (isWord(item, '@model')) continue
    return hasBody && at === items.length - 1 ? null : stringOf(item)
  }
  return null
}

function stringOf(form: Form | undefined): string | null {
  return form?.form === 'string' && !form.isSymbol ? form.value : null
}

/** `@event`, `@managed`, or `@managed amount MANAGER`. */
function markOf(text: string, { items }: CallForm): string | null {
  const at = items.findIndex((item) => isWord(item, '@event') || isWord(item, '@managed'))
  if (at < 0) return null
  const hasManager = isWord(items[at], '@managed') && items[at + 1]?.form === 'atom' && items.length > at + 2
  return text.slice(items[at].from, items[hasManager ? at + 2 : at].to)
}

/** All names of atoms and types in these forms, each once. Bare names of code are left out: they are not members. */
export function namesIn(forms: readonly (Form | undefined)[]): string[] {
  const found = new Set<string>()
  for (const form of forms) if (form !== undefined) collect(form, found)
  return [...found]
}

function collect(form: Form, found: Set<string>): void {
  switch (form.form) {
    case 'atom':
      if (form.name.includes('.')) found.add(form.name)
      collectType(form.type, found)
      return
    case 'list':
    case 'call':
      for (const item of form.items) collect(item, found)
      return
    case 'object':
      for (const [, value] of form.fields) collect(value, found)
      return
    case 'binding':
      for (const [, variable] of form.fields) collect(variable, found)
  }
}

function collectType(type: TypeForm | null, found: Set<string>): void {
  if (type?.type === 'list') collectType(type.item, found)
  else if (type?.type === 'object' || type?.type === 'table') {
    if (type.schema?.includes('.')) found.add(type.schema)
  } else if (type?.type === 'module') for (const name of type.interfaces) found.add(name)
}

/** Modules that a written name of a module may mean, the likeliest first: the root comes before the own namespace. */
export function modulesNamed(written: string, namespace: string | null): string[] {
  return written.includes('.') || namespace === null ? [written] : [written, `${namespace}.${written}`]
}

/** Modules that a dotted name in code may mean or be a member of. */
export function modulesMentioned(name: string, namespace: string | null): string[] {
  const parts = name.split('.')
  if (parts.length === 1) return modulesNamed(name, namespace)
  if (parts.length === 2) return [...modulesNamed(parts[0], namespace), name]
  return [`${parts[0]}.${parts[1]}`]
}
