/** Principals: account names derived from a guard, so that nobody else can own them. */

import type { LanguageRules } from '../../machine/environment.ts'
import { ofHash, ofTextParse, shownText } from '../../machine/gas/cost-names.ts'
import { COST, hashCost } from '../../machine/gas/costs.ts'
import { countCharacters, PRICE, parsePrice, textComparisonPrice } from '../../machine/gas/prices.ts'
import { type Arguments, checkGasForSize, type Native, native } from '../../machine/native.ts'
import { capabilityGuardSize, userGuardSize } from '../../values/charged-size.ts'
import { compareText } from '../../values/compare.ts'
import { hashText } from '../../values/hash.ts'
import type { Guard, Value } from '../../values/value.ts'
import { valueToJson } from '../../values/wire.ts'
import { weigh } from '../data/weight.ts'
import { SLH_DSA_KEY } from './environment.ts'

const KEY = /^[0-9a-f]{64}$/
const HASH = '[A-Za-z0-9_-]{43}'
const NAME = '[A-Za-z%#+\\-_&$@<>=^?*!|/~][A-Za-z0-9%#+\\-_&$@<>=^?*!|/~.]*'

type PrincipalForm = readonly [kind: string, form: RegExp]

/** Prefix -> pattern of the whole name. */
const FORMS: readonly PrincipalForm[] = [
  ['k:', /^k:[0-9a-fA-F]{64}$/],
  ['w:', new RegExp(`^w:${HASH}:${NAME}$`)],
  ['r:', /^r:.+$/s],
  ['u:', new RegExp(`^u:${NAME}:${HASH}$`)],
  ['m:', new RegExp(`^m:${NAME}:.+$`, 's')],
  ['p:', new RegExp(`^p:${HASH}:.+$`, 's')],
  ['c:', new RegExp(`^c:${HASH}$`)],
]

/** Principals of keysets whose keys are all of SLH-DSA (KIP-0041). */
const SLH_DSA_FORMS: readonly PrincipalForm[] = [
  ['q:', /^q:([0-9a-fA-F]{64}|[0-9a-fA-F]{96}|[0-9a-fA-F]{128})$/],
  ['x:', new RegExp(`^x:${HASH}:${NAME}$`)],
]

/** The principal of a guard. */
export function principalOf(guard: Guard, { hasSlhDsa }: Pick<LanguageRules, 'hasSlhDsa'>): string {
  const { is } = guard
  switch (is.kind) {
    case 'keyset':
      return keysetPrincipal(is.keys, is.predicate, hasSlhDsa)
    case 'keysetRef':
      return `r:${is.name}`
    case 'user':
      return `u:${is.fun}:${hashText(joinJson(is.args))}`
    case 'capability':
      return `c:${hashText(is.name + joinJson(is.args) + (is.pactId ?? ''))}`
    case 'module':
      return `m:${is.module}:${is.name}`
    case 'pact':
      return `p:${is.pactId}:${is.name}`
  }
}

/**
 * A single key of ED25519 or SLH-DSA with `keys-all` is used as is; other keysets are hashed. Keysets with keys of both
 * are `w:`.
 */
function keysetPrincipal(keys: readonly string[], predicate: string, hasSlhDsa: boolean): string {
  const sorted = [...new Set(keys)].sort(compareText)
  const isSingle = sorted.length === 1 && predicate === 'keys-all'
  if (isSingle && KEY.test(sorted[0])) return `k:${sorted[0]}`
  const isSlhDsa = hasSlhDsa && sorted.length > 0 && sorted.every((key) => SLH_DSA_KEY.test(key))
  // The prefix stands before the colon.
  if (isSingle && isSlhDsa) return sorted[0].replace('q', 'q:')
  return `${isSlhDsa ? 'x' : 'w'}:${hashText(sorted.join(''))}:${predicate}`
}

function joinJson(values: readonly Value[]): string {
  return values.map(valueToJson).join('')
}

/** @returns the prefix (`k:`, `w:`, ...), or an empty string if the text is not a principal */
export function kindOfPrincipal(text: string, { hasSlhDsa }: Pick<LanguageRules, 'hasSlhDsa'>): string {
  const forms = hasSlhDsa ? [...FORMS, ...SLH_DSA_FORMS] : FORMS
  return forms.find(([, form]) => form.test(text))?.[0] ?? ''
}

const rulesOf = ({ run }: Arguments): Pick<LanguageRules, 'hasSlhDsa'> => run.block?.rules ?? { hasSlhDsa: false }

function payHash(args: Arguments, bytes: number): void {
  args.charge(PRICE.hashByte * checkGasForSize(args.run, bytes), ofHash(bytes))
}

function payPrincipal(args: Arguments, guard: Guard): string {
  const { is } = guard
  args.work(hashCost(weigh(guard, args)))
  if (is.kind === 'user') payHash(args, userGuardSize(is))
  if (is.kind === 'capability') payHash(args, capabilityGuardSize(is))
  args.charge(PRICE.principal)
  const principal = principalOf(guard, rulesOf(args))
  const isOwn = is.kind === 'keyset' && is.predicate.includes('.')
  // The name of a predicate of one's own is joined to the hash: its parts, without the dots.
  if (isOwn) args.charge(PRICE.character * countCharacters(is.predicate.replaceAll('.', '')))
  return principal
}

function validatePrincipal(args: Arguments): boolean {
  const [guard, text] = [args.guard(0), args.text(1)]
  const principal = payPrincipal(args, guard)
  args.charge(textComparisonPrice(text), () => `GComparison (TextComparison ${shownText(text)})`)
  return principal === text
}

function payKind(args: Arguments): string {
  const text = args.text(0)
  args.charge(parsePrice(text), ofTextParse(text))
  args.workText(text.length, COST.readCharacter)
  return kindOfPrincipal(text, rulesOf(args))
}

export const PRINCIPALS: readonly Native[] = [
  native('create-principal', 1, 1, (args) => payPrincipal(args, args.guard(0))),
  native('validate-principal', 2, 2, validatePrincipal),
  native('is-principal', 1, 1, (args) => payKind(args) !== ''),
  native('typeof-principal', 1, 1, payKind),
]
