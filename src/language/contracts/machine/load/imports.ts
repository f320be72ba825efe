/** `(use module)`, `(use module "hash")`, `(use module [names])`: imports members under their own names. */
import type { CallForm } from '../../syntax/form.ts'
import { syntaxError } from '../../syntax/lexer.ts'
import type { Definition } from '../ast.ts'
import type { Expander } from '../expand/expander.ts'
import { noSuchImports, otherHash, wrongHash } from '../expand/load-errors.ts'
import { isVisible } from '../expand/resolver.ts'
import { isHash } from './module-hash/hash-text.ts'

/** Milligas for each imported member, beyond those that a program may import for free, as on the network. */
const MEMBER_COST = 10
const FREE_MEMBERS = 100_000

/**
 * Finds the members that a `use` form imports. An interface gives its constants and schemas.
 * @throws EvalError if there is no such module, or it has another hash or not all of the members
 */
export function importsOf(expander: Expander, form: CallForm): Map<string, Definition> {
  const [target, ...rest] = form.items.slice(1)
  if (target?.form !== 'atom') throw syntaxError('use takes the name of a module', form.place)
  let hash: string | null = null
  let wanted: readonly string[] | null = null
  for (const part of rest) {
    if (part.form === 'string') hash = part.value
    else if (part.form === 'list') wanted = part.items.map((item) => (item.form === 'atom' ? item.name : ''))
    else throw syntaxError('use takes a module, a hash and a list of names', part.place)
  }
  if (hash !== null && !isHash(hash)) throw wrongHash(hash, form.place)
  const module = expander.names.requireLoaded(target.name, form.place)
  const { loaded } = expander.run.program
  loaded.imported += module.definitions.size
  if (loaded.imported > FREE_MEMBERS) expander.run.charge(MEMBER_COST * module.definitions.size)
  if (hash !== null && hash !== module.hash) throw otherHash(module.name, module.hash, form.place)
  const visible = [...module.definitions].filter(([, definition]) => isVisible(definition))
  if (wanted === null) return new Map(visible)
  const names = new Set(wanted)
  const found = new Map(visible.filter(([name]) => names.has(name)))
  const missing = [...names].filter((name) => !found.has(name)).sort()
  if (missing.length > 0) throw noSuchImports(module.name, missing, form.place)
  return found
}

/** @throws EvalError if a text is not the hash of a module */
export function checkHash(text: string, form: CallForm): string {
  if (!isHash(text)) throw wrongHash(text, form.place)
  return text
}
