/** Text for the name under the cursor: signature, documentation, gas. */

import type { NativeWord } from '../../contracts/repl/vocabulary.ts'
import type { NameUse } from '../analysis/analysis.ts'
import { isModule, type NamedSymbol, qualifiedName } from '../text/symbols.ts'
import { nativeTexts } from './native-texts.ts'

/** Maximum length of the value of a constant in a text: its code may fill pages. */
const MAX_VALUE_CHARACTERS = 200

/** @returns Markdown */
export function hoverText({ target }: NameUse): string {
  return 'native' in target ? nativeHover(target.native) : symbolHover(target.symbol)
}

export function nativeHover(native: NativeWord): string {
  const about = nativeTexts.get(native.name)
  const parts = [fence(about?.call ?? native.name)]
  if (about !== undefined) parts.push(about.purpose)
  if (native.isOfTests) parts.push('Test files only.')
  else if (native.milligas !== null)
    parts.push(`Gas: ${formatGas(native.milligas)} a call, plus what depends on its arguments`)
  return parts.join('\n\n')
}

/** Gas with as many decimal places as it needs. */
export function formatGas(milligas: number): string {
  return String(milligas / 1000)
}

export function symbolHover(symbol: NamedSymbol): string {
  const parts = [fence(signatureOf(symbol))]
  if (symbol.doc !== null) parts.push(symbol.doc)
  const { owner } = symbol
  if (owner !== null) parts.push(`${owner.kind} \`${isModule(owner) ? owner.full : owner.name}\``)
  return parts.join('\n\n')
}

/** The definition in one line, without its body. */
export function signatureOf(symbol: NamedSymbol): string {
  const { kind } = symbol
  switch (kind) {
    case 'module':
    case 'interface':
      return `(${kind} ${qualifiedName(symbol)})`
    case 'defun':
    case 'defcap':
    case 'defpact': {
      const params = (symbol.params ?? []).map(typedName).join(' ')
      return `(${kind} ${typedName(symbol)} (${params})${symbol.marks === '' ? '' : ` ${symbol.marks}`})`
    }
    case 'defconst': {
      const value = symbol.value ?? ''
      const excerpt = value.length > MAX_VALUE_CHARACTERS ? `${value.slice(0, MAX_VALUE_CHARACTERS)}...` : value
      return `(defconst ${typedName(symbol)} ${excerpt})`
    }
    case 'defschema':
      return `(defschema ${symbol.name}${[...symbol.members.values()].map((each) => `\n  ${typedName(each)}`).join('')})`
    case 'deftable':
      return `(deftable ${typedName(symbol)})`
    default:
      return `(${kind}) ${typedName(symbol)}`
  }
}

function typedName({ name, typeText }: NamedSymbol): string {
  return typeText === null ? name : `${name}:${typeText}`
}

function fence(code: string): string {
  return `\`\`\`pact\n${code}\n\`\`\``
}
