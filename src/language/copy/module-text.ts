/** Names in the text of a module: its constants and tables, other modules. */
import { ContractError, NOWHERE, type TextPlace } from '../contracts/errors.ts'
import type { CallForm } from '../contracts/syntax/form.ts'
import { read, type Token, tokensOf } from '../contracts/syntax/reader.ts'

/** Where a module stood in the text that deployed it. */
export interface ModuleOrigin {
  readonly place: TextPlace
  /** Imports before it, as text. */
  readonly imports: string
}

/** @returns no tokens if the text cannot be read */
function tokens(text: string): readonly Token[] {
  try {
    return tokensOf(text, NOWHERE)
  } catch (error) {
    if (error instanceof ContractError) return []
    throw error
  }
}

/** Names of the members of a kind, such as `defconst`. */
export function membersOf(code: string, kind: string): string[] {
  const all = tokens(code)
  const found: string[] = []
  for (let i = 0; i + 2 < all.length; i++) {
    if (all[i].kind === '(' && all[i + 1].text === kind && all[i + 2].kind === 'name') found.push(all[i + 2].text)
  }
  return found
}

/**
 * Modules among `known` that a text names.
 * @param namespace namespace that the text is in, or null
 */
export function modulesIn(text: string, namespace: string | null, known: ReadonlySet<string>): string[] {
  const found = new Set<string>()
  for (const { kind, text: name } of tokens(text)) {
    if (kind !== 'name') continue
    const parts = name.split('.')
    for (let length = 1; length <= Math.min(2, parts.length); length++) {
      const module = parts.slice(0, length).join('.')
      if (known.has(module)) found.add(module)
      if (namespace !== null && known.has(`${namespace}.${module}`)) found.add(`${namespace}.${module}`)
    }
  }
  return [...found]
}

/** Strings in a text: names of accounts and keys of rows. */
export function stringsIn(text: string): string[] {
  return tokens(text).flatMap(({ kind, text: content }) => (kind === 'string' || kind === 'symbol' ? [content] : []))
}

/** Namespace of a qualified name, or null. */
export function namespaceOf(module: string): string | null {
  const dot = module.indexOf('.')
  return dot < 0 ? null : module.slice(0, dot)
}

/** Finds a module in the text of the command that deployed it. @returns null if the text does not hold it */
export function originIn(text: string, code: string, namespace: string | null): ModuleOrigin | null {
  let forms: readonly CallForm[]
  try {
    forms = read(text).filter((form): form is CallForm => form.form === 'call')
  } catch (error) {
    if (error instanceof ContractError) return null
    throw error
  }
  const at = forms.findIndex(({ from, to }) => text.slice(from, to) === code)
  if (at < 0) return null
  const imports = forms.slice(0, at).flatMap((form) => importIn(form, text, namespace))
  return { place: forms[at].place, imports: imports.join('\n') }
}

/** A `use` as it stands; a module that was deployed before is imported like one. */
function importIn({ items, from, to }: CallForm, text: string, namespace: string | null): string[] {
  const [head, name] = items
  if (head?.form !== 'atom' || name?.form !== 'atom') return []
  if (head.name === 'use') return [text.slice(from, to)]
  const isModule = head.name === 'module' || head.name === 'interface'
  return isModule ? [`(use ${namespace === null ? name.name : `${namespace}.${name.name}`})`] : []
}
