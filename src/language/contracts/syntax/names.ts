/** Names: those with a meaning in the grammar, which cannot name anything else, and the parts of qualified ones. */
import type { Atom, Form } from './form.ts'

const KEYWORDS: ReadonlySet<string> = new Set([
  'module',
  'interface',
  'use',
  'bless',
  'implements',
  'defun',
  'defcap',
  'defconst',
  'defschema',
  'deftable',
  'defpact',
  'step',
  'step-with-rollback',
  'let',
  'let*',
  'lambda',
  'true',
  'false',
  '@doc',
  '@model',
  '@event',
  '@managed',
])

export function isKeyword(name: string): boolean {
  return KEYWORDS.has(name)
}

/** True for a bare name that is not a keyword: without dots and `::`, with or without a type. */
export function isIdentifier(form: Form | undefined): form is Atom {
  return form?.form === 'atom' && form.member === null && !form.name.includes('.') && !isKeyword(form.name)
}

/** True for the word itself, as a bare name without a type. */
export function isWord(form: Form | undefined, word: string): boolean {
  return form?.form === 'atom' && form.name === word && form.member === null && form.type === null
}

/** True for `a`, `a.b` or `a.b.c`, up to a number of parts, none of which is a keyword. */
export function isDotted(name: string, most: number): boolean {
  const parts = name.split('.')
  return parts.length <= most && !parts.some(isKeyword)
}

interface NameParts {
  readonly module: string
  readonly member: string
}

/** Cache limits. Programs use few names, and short ones. */
const MAX_KNOWN = 10_000
const MAX_KNOWN_CHARACTERS = 200
const known = new Map<string, NameParts | null>()

/**
 * Splits `ns.module.member` at the last dot.
 * @returns null if there is no dot
 */
export function splitName(name: string): NameParts | null {
  const before = known.get(name)
  if (before !== undefined) return before
  const dot = name.lastIndexOf('.')
  const parts = dot > 0 ? { module: name.slice(0, dot), member: name.slice(dot + 1) } : null
  if (name.length > MAX_KNOWN_CHARACTERS) return parts
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(name, parts)
  return parts
}
