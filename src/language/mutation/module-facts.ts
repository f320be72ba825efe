/** Facts of modules: the members that operators change, and the signatures of those that code can call. */

import { isContract } from '../contracts/repl/run.ts'
import type { CallForm, Form, TypeForm } from '../contracts/syntax/form.ts'
import { isWord } from '../contracts/syntax/names.ts'
import {
  annotationsOf,
  type CallableOutline,
  moduleOutlineOf,
  type Outline,
  type TypedField,
} from '../contracts/syntax/outline.ts'
import { readProgram, readTest } from '../contracts/syntax/program.ts'

export interface Member {
  readonly kind: 'defun' | 'defcap' | 'defpact' | 'defconst'
  readonly name: string
  readonly form: CallForm
  readonly params: readonly TypedField[]
  /** The body without docstring and annotations; the value of a constant. */
  readonly body: readonly Form[]
}

/** A module in a text. */
export interface ModuleFacts {
  readonly text: string
  readonly form: CallForm
  readonly outline: Outline
  readonly members: readonly Member[]
  /** All modules that the tests load, by qualified and by bare name. */
  readonly known: KnownModules
  /** Functions that manage a capability. */
  readonly managers: ReadonlySet<string>
}

/** Variable -> its type; null if its text shows none. */
export type Types = ReadonlyMap<string, TypeForm | null>

type KnownModules = ReadonlyMap<string, Outline>

/** The modules of texts, for calls between them. Texts that cannot be read have none. */
export function knownModules(texts: ReadonlyMap<string, string>): KnownModules {
  const known = new Map<string, Outline>()
  for (const [file, text] of texts) {
    for (const { form, namespace } of modulesIn(file, text)) {
      const outline = moduleOutlineOf(text, form, namespace)
      known.set(outline.name, outline)
      known.set(outline.name.slice(outline.name.lastIndexOf('.') + 1), outline)
    }
  }
  return known
}

/** The modules that a text declares, without its interfaces. */
export function moduleFactsOf(file: string, text: string, known: KnownModules): ModuleFacts[] {
  return modulesIn(file, text)
    .filter(({ form }) => isWord(form.items[0], 'module'))
    .map(({ form, namespace }) => {
      const members = form.items.flatMap((item) => memberOf(item) ?? [])
      const managers = members.flatMap((member) => managerOf(member) ?? [])
      return {
        text,
        form,
        outline: moduleOutlineOf(text, form, namespace),
        members,
        known,
        managers: new Set(managers),
      }
    })
}

function modulesIn(file: string, text: string): { form: CallForm; namespace: string | null }[] {
  let namespace: string | null = null
  return (isContract(file) ? readProgram(text) : readTest(text)).flatMap((form) => {
    if (form.form !== 'call') return []
    const [head, name] = form.items
    if (isWord(head, 'namespace')) namespace = name?.form === 'string' ? name.value || null : null
    return isWord(head, 'module') || isWord(head, 'interface') ? [{ form, namespace }] : []
  })
}

const CALLABLES: ReadonlySet<string> = new Set(['defun', 'defcap', 'defpact'])

function memberOf(form: Form): Member | null {
  if (form.form !== 'call') return null
  const [head, name, third, ...rest] = form.items
  if (head?.form !== 'atom' || name?.form !== 'atom') return null
  if (head.name === 'defconst') return { kind: 'defconst', name: name.name, form, params: [], body: [third] }
  if (!CALLABLES.has(head.name) || third?.form !== 'call') return null
  const params = third.items.flatMap((param) => (param.form === 'atom' ? [{ name: param.name, type: param.type }] : []))
  return { kind: head.name as Member['kind'], name: name.name, form, params, body: annotationsOf(rest).rest }
}

/** Name of the function that manages a capability; null if none does. */
export function managerOf({ kind, form }: Member): string | null {
  return kind === 'defcap' ? (annotationsOf(form.items.slice(3)).managed?.manager ?? null) : null
}

/** The signature of a called function or capability; null if it is unknown or a native. */
export function calleeOf(head: Form | undefined, module: ModuleFacts): CallableOutline | null {
  if (head?.form !== 'atom') return null
  if (head.member !== null) return interfaceMember(head.member, module)
  const dot = head.name.lastIndexOf('.')
  const member = head.name.slice(dot + 1)
  const owners = dot < 0 ? [module.outline, ...usedBy(module)] : [module.known.get(head.name.slice(0, dot))]
  for (const owner of owners) {
    const callable = owner === undefined ? undefined : callablesOf(owner).find(({ name }) => name === member)
    if (callable !== undefined) return callable
  }
  return null
}

function interfaceMember(member: string, { known }: ModuleFacts): CallableOutline | null {
  for (const outline of known.values()) {
    const callable = outline.isInterface ? callablesOf(outline).find(({ name }) => name === member) : undefined
    if (callable !== undefined) return callable
  }
  return null
}

function usedBy({ outline, known }: ModuleFacts): Outline[] {
  return outline.uses.flatMap((name) => known.get(name) ?? [])
}

const callablesOf = ({ functions, capabilities, pacts }: Outline) => [...functions, ...capabilities, ...pacts]

/** The fields of a schema; empty if it is unknown. */
export function schemaFields(schema: string, module: ModuleFacts): ReadonlyMap<string, TypeForm | null> {
  const dot = schema.lastIndexOf('.')
  const owners = dot < 0 ? [module.outline, ...usedBy(module)] : [module.known.get(schema.slice(0, dot))]
  const name = schema.slice(dot + 1)
  const definition = owners.flatMap((owner) => owner?.schemas.filter((each) => each.name === name) ?? [])[0]
  return new Map((definition?.fields ?? []).map((field) => [field.name, field.type]))
}

/** The fields of the rows of a table. */
export function rowFields(table: Form | undefined, module: ModuleFacts): ReadonlyMap<string, TypeForm | null> {
  const schema = table?.form === 'atom' ? tableSchema(table.name, module) : null
  return schema === null ? new Map() : schemaFields(schema, module)
}

export function tableSchema(table: string, { outline }: ModuleFacts): string | null {
  return outline.tables.find(({ name }) => name === table)?.schema ?? null
}
