/** The meaning of each word of a file, for colours that a grammar of regular expressions cannot give. */
import { vocabulary } from '../../contracts/repl/vocabulary.ts'
import { isKeyword } from '../../contracts/syntax/names.ts'
import type { Token } from '../../contracts/syntax/reader.ts'
import type { NameUse, ProgramAnalysis } from '../analysis/analysis.ts'
import type { ParsedFile } from '../text/parsed-file.ts'
import type { OffsetRange } from '../text/spans.ts'
import type { NamedSymbol } from '../text/symbols.ts'

/** Types of the protocol; the index is the number on the wire. */
export const TOKEN_TYPES = [
  'namespace',
  'interface',
  'function',
  'event',
  'method',
  'struct',
  'property',
  'parameter',
  'variable',
  'keyword',
  'type',
  'string',
  'number',
  'comment',
  'decorator',
] as const

/** Modifiers of the protocol; the index is the bit on the wire. */
export const TOKEN_MODIFIERS = ['declaration', 'readonly', 'defaultLibrary'] as const

export type TokenType = (typeof TOKEN_TYPES)[number]
type TokenModifier = (typeof TOKEN_MODIFIERS)[number]

/** A word with its meaning. It may span lines. */
export interface SemanticToken extends OffsetRange {
  readonly type: TokenType
  readonly modifiers: readonly TokenModifier[]
}

/** A token within one line. */
export interface LineToken {
  readonly line: number
  readonly column: number
  readonly length: number
  /** Index in TOKEN_TYPES. */
  readonly type: number
  /** Sum of bits of TOKEN_MODIFIERS. */
  readonly modifiers: number
}

const TYPES: Readonly<Record<NamedSymbol['kind'], TokenType>> = {
  module: 'namespace',
  interface: 'interface',
  defun: 'function',
  defcap: 'event',
  defpact: 'method',
  defconst: 'variable',
  defschema: 'struct',
  deftable: 'variable',
  field: 'property',
  parameter: 'parameter',
  variable: 'variable',
}

/** Words that begin a definition or a declaration. */
const DECLARING: ReadonlySet<string> = new Set([
  'module',
  'interface',
  'defun',
  'defcap',
  'defpact',
  'defconst',
  'defschema',
  'deftable',
  'use',
  'implements',
  'bless',
  'step',
  'step-with-rollback',
])

/** All words of a file that have a meaning, in order. */
export function semanticTokensOf(analysis: ProgramAnalysis): SemanticToken[] {
  const { root } = analysis
  const uses = usesByStart(analysis.uses.filter(({ file }) => file === root.file))
  const found = root.comments.map(({ from, to }) => plainToken(from, to, 'comment'))
  for (const [index, token] of root.tokens.entries()) found.push(...meaningsOf(root, token, index, uses))
  return found.toSorted((a, b) => a.from - b.from)
}

/** Splits tokens at line ends, as the protocol requires. Line ends are not part of a token. */
export function lineTokens({ text, lines }: ParsedFile, tokens: readonly SemanticToken[]): LineToken[] {
  return tokens.flatMap(({ from, to, type, modifiers }) => {
    const bits = modifiers.reduce((sum, each) => sum | (1 << TOKEN_MODIFIERS.indexOf(each)), 0)
    const about = { type: TOKEN_TYPES.indexOf(type), modifiers: bits }
    return [...text.slice(from, to).matchAll(/[^\r\n]+/g)].map(({ 0: part, index }) => {
      const start = from + index
      return { ...about, line: lines.lineOf(start), column: lines.columnOf(start), length: part.length }
    })
  })
}

/** Start -> the uses that begin there, the shortest first. */
function usesByStart(uses: readonly NameUse[]): ReadonlyMap<number, readonly NameUse[]> {
  const found = new Map<number, NameUse[]>()
  for (const use of uses) found.set(use.from, [...(found.get(use.from) ?? []), use])
  for (const each of found.values()) each.sort((a, b) => a.to - b.to)
  return found
}

function meaningsOf(
  root: ParsedFile,
  token: Token,
  index: number,
  uses: ReadonlyMap<number, readonly NameUse[]>,
): SemanticToken[] {
  const { kind, from, to } = token
  if (kind === 'string' || kind === 'symbol') return [fieldAt(from + 1, uses) ?? plainToken(from, to, 'string')]
  if (kind === 'integer' || kind === 'decimal') return [plainToken(from, to, 'number')]
  if (kind !== 'name') return []
  const word = root.text.slice(from, to)
  if (word.startsWith('@')) return [plainToken(from, to, 'decorator')]
  const own = uses.get(from) ?? []
  if (own.length > 0) return tokensOfName(own)
  if (word === 'true' || word === 'false' || isKeyword(word)) return [plainToken(from, to, 'keyword')]
  // Forms that declare something have no use.
  if (root.tokens[index - 1]?.kind === '(' && (DECLARING.has(word) || vocabulary.has(word))) {
    return [plainToken(from, to, 'keyword')]
  }
  // `name:type`, or `name:[type]`.
  const [before, between] = [root.tokens[index - 2]?.kind, root.tokens[index - 1]?.kind]
  return between === ':' || (between === '[' && before === ':') ? [plainToken(from, to, 'type')] : []
}

/** The name of a field within quotes. */
function fieldAt(from: number, uses: ReadonlyMap<number, readonly NameUse[]>): SemanticToken | null {
  const use = uses.get(from)?.find(({ target }) => 'symbol' in target && target.symbol.kind === 'field')
  return use === undefined ? null : plainToken(use.from, use.to, 'property')
}

/** A name, and the module in front of its last dot. */
function tokensOfName(uses: readonly NameUse[]): SemanticToken[] {
  const longest = uses.at(-1) as NameUse
  const [front] = uses
  const last = tokenOf(longest)
  if (front === longest || front.to >= longest.to) return [last]
  return [tokenOf(front), { ...last, from: front.to + 1 }]
}

function tokenOf({ from, to, target, isDefinition }: NameUse): SemanticToken {
  if ('native' in target) {
    const { kind } = target.native
    const type = kind === 'form' ? 'keyword' : kind === 'constant' ? 'variable' : 'function'
    return { from, to, type, modifiers: kind === 'form' ? [] : ['defaultLibrary'] }
  }
  const { kind } = target.symbol
  const modifiers: TokenModifier[] = isDefinition === true ? ['declaration'] : []
  if (kind === 'defconst') modifiers.push('readonly')
  return { from, to, type: TYPES[kind], modifiers }
}

function plainToken(from: number, to: number, type: TokenType): SemanticToken {
  return { from, to, type, modifiers: [] }
}
