/** Checks the number of arguments of calls. */
import type { CallForm, Form } from '../../contracts/syntax/form.ts'
import type { CodeFinding, OffsetRange } from '../text/spans.ts'
import { nameRange, qualifiedName } from '../text/symbols.ts'
import type { ResolvedSymbol } from './name-lookup.ts'

/** Natives that complete a call with further arguments. */
const HIGHER_ORDER: ReadonlySet<string> = new Set([
  'map',
  'filter',
  'fold',
  'zip',
  'compose',
  'where',
  'select',
  'fold-db',
  'not?',
  'and?',
  'or?',
  'expect-that',
  'create-user-guard',
  'resume',
  'bind',
  'with-read',
  'with-default-read',
  'pure',
])

/** Natives that complete their first argument only. */
const FIRST_ONLY: ReadonlySet<string> = new Set(['map', 'filter', 'fold', 'zip'])

/**
 * True for a part that may lack arguments, since the native around it adds them.
 * @param index of the part; the first after the name of the native is 0
 */
export function mayLackArguments(word: string, parts: readonly Form[], index: number): boolean {
  if (!HIGHER_ORDER.has(word) || parts.some((part) => part.form === 'binding')) return false
  return index === 0 || !FIRST_ONLY.has(word)
}

/** Too many arguments are an error. With too few, code may still hand the function to one that adds the rest. */
export function callFindings(call: CallForm, meaning: ResolvedSymbol): CodeFinding[] {
  const [head, ...rest] = call.items
  if (head?.form !== 'atom' || meaning === null || meaning === 'pending') return []
  const count = countOf(rest)
  const arity = arityOf(meaning)
  if (arity === null || (count >= arity[0] && count <= arity[1])) return []
  const [fewest, most] = arity
  const takes = fewest === most ? `${most}` : `${fewest} to ${most}`
  const name = 'native' in meaning ? meaning.native.name : qualifiedName(meaning.symbol)
  const advice = count < fewest ? ': the result is a function of the others' : ''
  const message = `${name} takes ${takes} argument${most === 1 ? '' : 's'}, not ${count}${advice}`
  const range: OffsetRange = nameRange(head)
  return [{ severity: count > most ? 'error' : 'warning', code: 'wrong-arguments', message, ...range }]
}

function arityOf(meaning: Exclude<ResolvedSymbol, 'pending' | null>): readonly [number, number] | null {
  if ('native' in meaning) return meaning.native.arity
  const { params } = meaning.symbol
  return params === null ? null : [params.length, params.length]
}

/** A binding and the forms after it are one argument. */
function countOf(forms: readonly Form[]): number {
  const binding = forms.findIndex((form) => form.form === 'binding')
  return binding < 0 ? forms.length : binding + 1
}
