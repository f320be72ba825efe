/** Symbols of a program: modules, their members, fields of schemas, parameters and variables. */
import type { Atom, CallForm, Form, StringForm, TypeForm } from '../../contracts/syntax/form.ts'
import { isIdentifier, isWord } from '../../contracts/syntax/names.ts'
import { type ModuleParts, moduleParts, type ParsedFile, wordOf } from './parsed-file.ts'
import type { OffsetRange } from './spans.ts'

export type MemberKind = 'defun' | 'defcap' | 'defpact' | 'defconst' | 'defschema' | 'deftable'

export interface NamedSymbol {
  readonly kind: MemberKind | 'module' | 'interface' | 'field' | 'parameter' | 'variable'
  readonly name: string
  readonly file: string
  /** The name in the text. */
  readonly at: OffsetRange
  /** The whole form. */
  readonly whole: OffsetRange
  /** Module or schema that contains it, or null. */
  readonly owner: NamedSymbol | null
  /** Type as written after the colon: that of the result of a function. Null if there is none. */
  readonly type: TypeForm | null
  readonly typeText: string | null
  readonly doc: string | null
  /** Parameters of functions, capabilities and pacts; null for anything else. */
  readonly params: readonly NamedSymbol[] | null
  /** Marks of a capability as written, such as `@managed amount TRANSFER-mgr`. */
  readonly marks: string
  /** Members of a module, fields of a schema. */
  readonly members: Map<string, NamedSymbol>
  /** Source of a constant, else null. */
  readonly value: string | null
}

export interface ModuleSymbol extends NamedSymbol {
  readonly kind: 'module' | 'interface'
  /** `namespace.module`, or the name if there is no namespace, or none that the text states. */
  readonly full: string
  /** True if the command that deploys it names the namespace, not the text. */
  readonly isAnyNamespace: boolean
  readonly parts: ModuleParts
  readonly source: ParsedFile
}

const MEMBER_KINDS: ReadonlySet<string> = new Set<MemberKind>([
  'defun',
  'defcap',
  'defpact',
  'defconst',
  'defschema',
  'deftable',
])

const NOTHING = { type: null, typeText: null, doc: null, params: null, marks: '', value: null }

/** The namespace of code whose text does not state it: `(namespace (read-msg "ns"))`. */
export const ANY_NAMESPACE = '*'

/** Declares a module with all of its members. @returns null if it has no name */
export function declareModule(source: ParsedFile, parts: ModuleParts, namespace: string | null): ModuleSymbol | null {
  const name = parts.call.items[1]
  if (name?.form !== 'atom') return null
  const module: ModuleSymbol = {
    ...NOTHING,
    kind: wordOf(parts.call) === 'interface' ? 'interface' : 'module',
    name: name.name,
    full: namespace === null || namespace === ANY_NAMESPACE ? name.name : `${namespace}.${name.name}`,
    isAnyNamespace: namespace === ANY_NAMESPACE,
    file: source.file,
    at: nameRange(name),
    whole: rangeOfForm(parts.call),
    owner: null,
    doc: docIn(parts.header.slice(2)),
    members: new Map(),
    parts,
    source,
  }
  for (const form of parts.members) {
    const member = declareMember(source, form, module)
    if (member !== null && !module.members.has(member.name)) module.members.set(member.name, member)
  }
  return module
}

/** Modules by the file that declares them, since every keystroke asks for those of all files. */
const declared = new WeakMap<ParsedFile, readonly ModuleSymbol[]>()

/** All modules of a file, each in the namespace that is entered before it, without a look at their code. */
export function modulesOf(parsed: ParsedFile): readonly ModuleSymbol[] {
  const before = declared.get(parsed)
  if (before !== undefined) return before
  const modules = declareModules(parsed)
  declared.set(parsed, modules)
  return modules
}

function declareModules(parsed: ParsedFile): ModuleSymbol[] {
  let namespace: string | null = null
  return parsed.forms.flatMap((form) => {
    if (form.form === 'call' && wordOf(form) === 'namespace') namespace = namespaceIn(form, new Map())
    const parts = moduleParts(form)
    const module = parts === null ? null : declareModule(parsed, parts, namespace)
    return module === null ? [] : [module]
  })
}

/**
 * The namespace that a form enters.
 * @param data texts in the message of the command, by name
 * @returns null for the root
 */
export function namespaceIn({ items }: CallForm, data: ReadonlyMap<string, string>): string | null {
  const [, argument] = items
  const [read, key] = argument?.form === 'call' ? argument.items : []
  const isRead = isWord(read, 'read-msg') || isWord(read, 'read-string')
  const name =
    isRead && key?.form === 'string' ? data.get(key.value) : argument?.form === 'string' ? argument.value : null
  return name === '' ? null : (name ?? ANY_NAMESPACE)
}

/** Declares a definition. @returns null if the form is none, or has no name */
export function declareMember(source: ParsedFile, form: Form, owner: NamedSymbol | null): NamedSymbol | null {
  const kind = wordOf(form)
  const name = form.form === 'call' ? form.items[1] : undefined
  if (form.form !== 'call' || !MEMBER_KINDS.has(kind) || name?.form !== 'atom') return null
  const isFunction = kind === 'defun' || kind === 'defcap' || kind === 'defpact'
  const rest = form.items.slice(isFunction || kind === 'defconst' ? 3 : 2)
  const member: NamedSymbol = {
    ...variable(source, name, 'variable', owner),
    kind: kind as MemberKind,
    whole: rangeOfForm(form),
    doc: kind === 'defconst' ? textOf(rest.at(-1)) : docIn(rest, isFunction),
    params: isFunction ? parametersOf(source, form.items[2]) : null,
    marks: kind === 'defcap' ? marksIn(source, form) : '',
    value: kind === 'defconst' && form.items[2] !== undefined ? sliceOf(source, form.items[2]) : null,
  }
  if (kind === 'defschema') {
    for (const field of rest) {
      if (isIdentifier(field)) member.members.set(field.name, variable(source, field, 'field', member))
    }
  }
  return member
}

/** A parameter, variable or field with its type. */
export function variable(
  source: ParsedFile,
  atom: Atom,
  kind: 'parameter' | 'variable' | 'field',
  owner: NamedSymbol | null = null,
): NamedSymbol {
  const typeText =
    atom.type === null
      ? null
      : sliceOf(source, atom)
          .slice(atom.name.length)
          .replace(/^\s*:\s*/, '')
  // A spread of NOTHING makes an object that V8 keeps as a dictionary, which takes 70 times as long, and there are many.
  return {
    kind,
    name: atom.name,
    file: source.file,
    at: nameRange(atom),
    whole: rangeOfForm(atom),
    owner,
    type: atom.type,
    typeText,
    doc: null,
    params: null,
    marks: '',
    members: new Map(),
    value: null,
  }
}

export function parametersOf(source: ParsedFile, form: Form | undefined): NamedSymbol[] {
  if (form?.form !== 'call') return []
  return form.items.filter(isIdentifier).map((atom) => variable(source, atom, 'parameter'))
}

/** Range of the name in `name:type`. */
export function nameRange({ name, from, to }: Atom): OffsetRange {
  return { from, to: Math.min(from + name.length, to) }
}

export function rangeOfForm({ from, to }: Form): OffsetRange {
  return { from, to }
}

export function sliceOf({ text }: ParsedFile, { from, to }: OffsetRange): string {
  return text.slice(from, to)
}

/** @param isBeforeBody true if a single string is the body, not a docstring */
function docIn(forms: readonly Form[], isBeforeBody = false): string | null {
  const word = forms.findIndex((form) => isWord(form, '@doc'))
  if (word >= 0) return textOf(forms[word + 1])
  const first = forms.find((form) => form.form !== 'atom')
  return first === forms[0] && !(isBeforeBody && forms.length < 2) ? textOf(first) : null
}

function textOf(form: Form | undefined): string | null {
  return form?.form === 'string' && !form.isSymbol ? (form as StringForm).value : null
}

function marksIn(source: ParsedFile, { items }: CallForm): string {
  const at = items.findIndex((item) => isWord(item, '@managed') || isWord(item, '@event'))
  if (at < 0) return ''
  const isPair = isIdentifier(items[at + 1]) && items[at + 2]?.form === 'atom' && isWord(items[at], '@managed')
  const last = isPair ? items[at + 2] : items[at]
  return sliceOf(source, { from: items[at].from, to: last.to })
}

/** Name with that of its module. */
export function qualifiedName(symbol: NamedSymbol): string {
  const { owner } = symbol
  if (owner === null) return isModule(symbol) ? symbol.full : symbol.name
  return `${isModule(owner) ? owner.full : owner.name}.${symbol.name}`
}

export function isModule(symbol: NamedSymbol): symbol is ModuleSymbol {
  return symbol.kind === 'module' || symbol.kind === 'interface'
}

/** Code can use constants and schemas of interfaces only. */
export function isUsable(member: NamedSymbol): boolean {
  return member.owner?.kind !== 'interface' || member.kind === 'defconst' || member.kind === 'defschema'
}

/** True for two views of the same definition in the same text. */
export function isSameSymbol(one: NamedSymbol, other: NamedSymbol): boolean {
  return one.file === other.file && one.at.from === other.at.from && one.name === other.name
}
